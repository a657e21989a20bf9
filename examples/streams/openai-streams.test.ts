import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import OpenAI from "openai";
import type { ModelResponse } from "toolkernel";
import { fromAiSdkModel } from "toolkernel/ai-sdk";
import { callsFromChat, callsFromResponses } from "toolkernel/openai";
import { describe, expect, it } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { chunksOf, eventStream, hasRecordings, recording } from "../support/recordings.ts";

const DONE = "data: [DONE]\n\n";

function clientOf(stream: string): OpenAI {
  return new OpenAI({ apiKey: "none", maxRetries: 0, fetch: recordedFetch([stream]).fetch });
}

describe.skipIf(!hasRecordings)("recorded streams, joined by the OpenAI SDK (needs ../shared)", () => {
  async function joinChat(stream: string): Promise<OpenAI.ChatCompletion> {
    return clientOf(stream).chat.completions.stream({ model: "any", messages: [] }).finalChatCompletion();
  }

  it.each([
    ["groq-tool-call-stream.chunks.jsonl", [{ id: "tk85n1k4m", name: "weather", arguments: "{}" }]],
    [
      "alibaba-tool-call-stream.chunks.jsonl",
      [{ id: "call_eee11723464a4b9eb8cee71d", name: "weather", arguments: '{"location": "San Francisco"}' }],
    ],
  ])("%s", async (file, calls) => {
    const completion = await joinChat(eventStream(chunksOf(file), DONE));
    expect(callsFromChat(completion)).toEqual({ stopReason: "toolUse", calls });
  });

  it("copilot-id-rotation.chunks.jsonl: item ids that change do no harm", async () => {
    const stream = clientOf(eventStream(chunksOf("copilot-id-rotation.chunks.jsonl"))).responses.stream({
      model: "any",
      input: [],
    });
    expect(callsFromResponses(await stream.finalResponse())).toEqual({ stopReason: "stop", calls: [] });
  });
});

describe.skipIf(!hasRecordings)(
  "recorded streams that the OpenAI SDK cannot join, joined by the AI SDK (needs ../shared)",
  () => {
    async function ask(stream: string): Promise<ModelResponse> {
      const { fetch } = recordedFetch([stream]);
      const provider = createOpenAICompatible({ name: "router", baseURL: "https://router.invalid", fetch });
      const model = fromAiSdkModel(provider("any"), { maxRetries: 0 });
      const request = {
        systemPrompt: undefined,
        messages: [{ role: "user", content: "Go." }],
        tools: [],
        turn: 1,
      } as const;
      return model.generate(request, { signal: new AbortController().signal, emit: () => undefined });
    }

    it("mistral-incremental.chunks.jsonl: a fragment without id repeats the call with an empty name", async () => {
      const { content, stopReason } = await ask(eventStream(chunksOf("mistral-incremental.chunks.jsonl"), DONE));
      expect({ content, stopReason }).toEqual({
        stopReason: "toolUse",
        content: [
          {
            type: "toolCall",
            id: "chatcmpl-tool-9f149c74c42f265b",
            name: "webSearchTool",
            arguments: '{"query": "current Berlin weather"}',
          },
        ],
      });
    });

    it("anthropic-compat-index-1.sse: the first call has index 1", async () => {
      const { content, stopReason } = await ask(recording("anthropic-compat-index-1.sse"));
      expect({ content, stopReason }).toEqual({
        stopReason: "toolUse",
        content: [
          { type: "text", text: "Reading it." },
          { type: "toolCall", id: "toolu_sanitized", name: "read_file", arguments: '{"path": "a.txt"}' },
        ],
      });
    });
  },
);
