import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { GoogleGenAI } from "@google/genai";
import type { ModelResponse } from "toolkernel";
import { fromAiSdkModel } from "toolkernel/ai-sdk";
import { callsFromGemini } from "toolkernel/gemini";
import { afterEach, describe, expect, it, vi } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { chunksOf, eventStream, hasRecordings } from "../support/recordings.ts";

/** A turn as gemini-cli recorded it: the chunks of one stream. */
function turnOf(file: string, turn: number): readonly Record<string, unknown>[] {
  return chunksOf(file)[turn]?.response as readonly Record<string, unknown>[];
}

describe.skipIf(!hasRecordings)("recorded streams, joined by the Gemini SDK's chat (needs ../shared)", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** The SDK keeps the contents of a stream in its history, one a chunk; together they are the model's. */
  async function join(chunks: readonly Record<string, unknown>[]) {
    vi.stubGlobal("fetch", recordedFetch([eventStream(chunks)]).fetch);
    const chat = new GoogleGenAI({ apiKey: "none" }).chats.create({ model: "any" });
    let finishReason: string | undefined;
    for await (const chunk of await chat.sendMessageStream({ message: "Go." })) {
      finishReason = chunk.candidates?.[0]?.finishReason ?? finishReason;
    }
    const parts = chat
      .getHistory()
      .slice(1)
      .flatMap((content) => content.parts ?? []);
    return callsFromGemini({ candidates: [{ content: { parts }, finishReason }] });
  }

  it("gemini-cli-block-tool: a call with its thought signature, then an answer", async () => {
    const file = "gemini-cli-block-tool.responses.jsonl";
    const { calls, stopReason } = await join(turnOf(file, 0));
    expect({ calls, stopReason }).toMatchObject({
      stopReason: "toolUse",
      calls: [
        {
          id: "",
          name: "write_file",
          arguments: { file_path: "test.txt", content: "Hello World" },
          providerData: { thoughtSignature: expect.stringMatching(/^CiQBcsjafGeGML0hnm03md4/) },
        },
      ],
    });
    expect(await join(turnOf(file, 1))).toEqual({ stopReason: "stop", calls: [] });
  });

  it("gemini-cli-shell: text and calls of one stream", async () => {
    const { calls } = await join(turnOf("gemini-cli-shell.responses.jsonl", 0));
    expect(calls).toMatchObject([
      {
        name: "run_shell_command",
        arguments: {
          description: "Execute the echo command as requested.",
          command: "echo POLICY_TEST_ECHO_COMMAND",
        },
      },
    ]);
  });
});

describe.skipIf(!hasRecordings)(
  "recorded streams of arguments in pieces, joined by the AI SDK (needs ../shared)",
  () => {
    async function ask(file: string): Promise<ModelResponse> {
      const google = createGoogleGenerativeAI({
        apiKey: "none",
        fetch: recordedFetch([eventStream(chunksOf(file))]).fetch,
      });
      const model = fromAiSdkModel(google("gemini-3-pro"), { maxRetries: 0 });
      const request = {
        systemPrompt: undefined,
        messages: [{ role: "user", content: "Go." }],
        tools: [],
        turn: 1,
      } as const;
      return model.generate(request, { signal: new AbortController().signal, emit: () => undefined });
    }

    it.each([
      [
        "gemini-no-args-stream.chunks.jsonl",
        [
          ["read_theme", {}],
          ["read_screen", { id: "A" }],
          ["read_screen", { id: "B" }],
          ["read_screen", { id: "C" }],
        ],
      ],
      [
        "gemini-arguments-stream.chunks.jsonl",
        [
          ["getWeather", { location: "Boston" }],
          ["getWeather", { location: "San Francisco" }],
        ],
      ],
      [
        "gemini-array-arguments-no-end.chunks.jsonl",
        [
          [
            "writeItems",
            {
              operations: [
                { action: "add", description: "Fresh red apple", itemid: "apple_001", price: 0.5 },
                { action: "add", description: "Ripe yellow banana", itemid: "banana_001", price: 0.3 },
              ],
            },
          ],
        ],
      ],
    ])("%s", async (file, calls) => {
      const { content, stopReason } = await ask(file);
      const found = content.filter((part) => part.type === "toolCall");
      expect(found.map((part) => [part.name, JSON.parse(String(part.arguments))])).toEqual(calls);
      expect(stopReason).toBe("toolUse");
    });
  },
);
