import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AssistantMessage, KernelError, type ModelResponse } from "toolkernel";
import { recordedModel } from "toolkernel/testing";
import { afterAll, describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const folder = mkdtempSync(join(tmpdir(), "recorded-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(text: string): string {
  files += 1;
  const path = join(folder, `recording-${files}.json`);
  writeFileSync(path, text);
  return path;
}

const request = { systemPrompt: undefined, messages: [], tools: [], turn: 1 };

/** All responses that a recording gives, until it fails. */
async function responsesOf(text: string, count: number): Promise<ModelResponse[]> {
  const model = recordedModel(fileOf(text));
  const responses: ModelResponse[] = [];
  const context = { signal: new AbortController().signal, emit: () => undefined };
  for (let asked = 0; asked < count; asked++) responses.push(await model.generate(request, context));
  await expect(model.generate(request, context)).rejects.toThrow(
    `has ${count} responses; request ${count + 1} has none`,
  );
  return responses;
}

const text = (value: string) => ({ type: "text", text: value });
const CHAT = {
  choices: [
    {
      finish_reason: "tool_calls",
      message: {
        content: "Reading.",
        reasoning_content: "First a.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "read", arguments: '{"path": "a"}' } },
          { id: "c2", type: "function", function: { name: "read" } },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
};
const RESPONSES = {
  object: "response",
  status: "completed",
  output: [
    { type: "reasoning", id: "rs", summary: [text("First a."), text("Then b.")], encrypted_content: "xyz" },
    { type: "message", content: [{ type: "output_text", text: "Reading." }] },
    { type: "function_call", id: "fc1", call_id: "c1", name: "read", arguments: "{}", status: "completed" },
    { type: "web_search_call", id: "ws", status: "completed" },
    { type: "message", content: [{ type: "output_text", text: "And more." }] },
    { type: "custom_tool_call", call_id: "c2", name: "sql", input: "SELECT 1" },
  ],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
};
const ANTHROPIC = {
  type: "message",
  role: "assistant",
  stop_reason: "tool_use",
  content: [
    { type: "thinking", thinking: "First a.", signature: "sig" },
    { type: "redacted_thinking", data: "hidden" },
    text("Reading."),
    { type: "tool_use", id: "c1", name: "read", input: { path: "a" } },
    { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
    text("And more."),
    { type: "tool_use", id: "c2", name: "read", input: {} },
  ],
  usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 4 },
};
const GEMINI = {
  candidates: [
    {
      finishReason: "STOP",
      content: {
        parts: [
          { text: "First a.", thought: true, thoughtSignature: "sig" },
          { text: "Reading." },
          { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "t1" },
          { text: "And more." },
          { functionCall: { id: "c2", name: "read", args: {} } },
        ],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 3, thoughtsTokenCount: 1, totalTokenCount: 7 },
};
const USAGE = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };

describe("a recorded response", () => {
  it.each<readonly [string, object, ModelResponse]>([
    [
      "Chat Completions",
      CHAT,
      {
        content: [
          { type: "reasoning", text: "First a." },
          { type: "text", text: "Reading." },
          { type: "toolCall", id: "c1", name: "read", arguments: '{"path": "a"}' },
          { type: "toolCall", id: "c2", name: "read", arguments: "" },
        ],
        stopReason: "toolUse",
        usage: USAGE,
      },
    ],
    [
      "OpenAI Responses",
      RESPONSES,
      {
        content: [
          { type: "reasoning", text: "First a.\nThen b.", providerData: { id: "rs", encrypted_content: "xyz" } },
          { type: "text", text: "Reading." },
          {
            type: "toolCall",
            id: "c1",
            name: "read",
            arguments: "{}",
            providerData: { id: "fc1", status: "completed" },
          },
          { type: "text", text: "And more." },
          {
            type: "toolCall",
            id: "c2",
            name: "sql",
            arguments: { input: "SELECT 1" },
            providerData: { type: "custom_tool_call" },
          },
        ],
        stopReason: "toolUse",
        usage: USAGE,
      },
    ],
    [
      "Anthropic Messages",
      ANTHROPIC,
      {
        content: [
          { type: "reasoning", text: "First a.", providerData: { type: "thinking", signature: "sig" } },
          { type: "reasoning", text: "", providerData: { type: "redacted_thinking", data: "hidden" } },
          { type: "text", text: "Reading." },
          { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
          { type: "text", text: "And more." },
          { type: "toolCall", id: "c2", name: "read", arguments: {} },
        ],
        stopReason: "toolUse",
        usage: USAGE,
      },
    ],
    [
      "Gemini",
      GEMINI,
      {
        content: [
          { type: "reasoning", text: "First a.", providerData: { thoughtSignature: "sig" } },
          { type: "text", text: "Reading." },
          {
            type: "toolCall",
            id: "",
            name: "read",
            arguments: { path: "a" },
            providerData: { thoughtSignature: "t1" },
          },
          { type: "text", text: "And more." },
          { type: "toolCall", id: "c2", name: "read", arguments: {}, providerData: { id: "c2" } },
        ],
        stopReason: "toolUse",
        usage: USAGE,
      },
    ],
    ["ModelResponse", ask("read"), ask("read")],
  ])(
    "of %s is known by its shape; text, reasoning and calls stand in their order",
    async (_wire, recorded, expected) => {
      expect(await responsesOf(JSON.stringify(recorded), 1)).toEqual([expected]);
    },
  );

  it.each<readonly [string, object, object]>([
    ["cut off", { ...CHAT, choices: [{ ...CHAT.choices[0], finish_reason: "length" }] }, { stopReason: "length" }],
    [
      "refused by its model",
      { choices: [{ finish_reason: "stop", message: { content: null, refusal: "I will not." } }] },
      { stopReason: "error", errorMessage: "I will not.", content: [{ type: "text", text: "I will not." }] },
    ],
    [
      "failed at its provider",
      { ...RESPONSES, status: "failed", error: { message: "overloaded" }, output: [] },
      { stopReason: "error", errorMessage: "overloaded", content: [] },
    ],
    ["refused as a prompt", { promptFeedback: { blockReason: "SAFETY" } }, { stopReason: "error", content: [] }],
    ["without usage", { type: "message", content: [], stop_reason: "end_turn" }, { stopReason: "stop", content: [] }],
    [
      "with texts in parts",
      { choices: [{ finish_reason: "stop", message: { content: [text("a"), { type: "other" }, text("b")] } }] },
      { stopReason: "stop", content: [text("a"), text("b")] },
    ],
  ])("that was %s keeps what it says of itself", async (_what, recorded, expected) => {
    const [response] = await responsesOf(JSON.stringify(recorded), 1);
    expect(response).toMatchObject(expected);
  });
});

describe("a recording", () => {
  const first = JSON.stringify(ask("read"));
  const second = JSON.stringify(say("done"));
  it.each([
    ["a JSON array", `[${first}, ${second}]`],
    ["JSON Lines", `${first}\n${second}`],
    ["JSON Lines with blank lines and the line ends of Windows", `\r\n${first}\r\n\r\n${second}\r\n`],
    ["a file with a byte order mark", `\uFEFF[${first}, ${second}]`],
  ])("may be %s, of several wires", async (_what, content) => {
    expect(await responsesOf(content, 2)).toEqual([ask("read"), say("done")]);
  });

  it("may mix wires, and be named by a URL", async () => {
    const path = fileOf([CHAT, ANTHROPIC, GEMINI, RESPONSES].map((each) => JSON.stringify(each)).join("\n"));
    const model = recordedModel(pathToFileURL(path));
    const names: number[] = [];
    const context = { signal: new AbortController().signal, emit: () => undefined };
    for (let asked = 0; asked < 4; asked++) names.push((await model.generate(request, context)).content.length);
    expect(names).toEqual([4, 6, 5, 5]);
  });

  it("is played by an Agent, streamed a part at a time; a request past its end fails by the file's name", async () => {
    const path = fileOf(JSON.stringify([CHAT, say("done")]));
    const bench = openAgentBench({ model: recordedModel(path) });
    const played = await bench.play();
    expect([endOf(played), linesOf(played.result.messages)]).toEqual([
      "completed by noCalls",
      ["user go", "assistant First a., Reading., read#c1, read#c2", "result c1 ok", "result c2 ok", "assistant done"],
    ]);
    expect(eventsOf(played.events, "messageUpdated").map(({ delta }) => delta)).toEqual([
      { type: "reasoning", text: "First a." },
      { type: "text", text: "Reading." },
      { type: "text", text: "done" },
    ]);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    const past = await bench.play("again", { runId: "again" });
    expect(past.result.error?.message).toBe(`The recording ${path} has 2 responses; request 3 has none.`);
  });

  it("gives calls that the kernel then refuses by their own faults", async () => {
    const recorded = { ...ANTHROPIC, content: [{ type: "tool_use", id: "c1", name: "read", input: [1] }] };
    const bench = openAgentBench({ model: recordedModel(fileOf(JSON.stringify([recorded, say()]))) });
    const { result } = await bench.play();
    expect(linesOf(result.messages)[2]).toBe("error c1 invalid_arguments");
    expect((result.messages[1] as AssistantMessage).content).toEqual([callPart("read", "c1", "[1]")]);
  });

  const wire =
    "is no whole response of a known wire (Chat Completions, OpenAI Responses, Anthropic Messages, Gemini) and no ModelResponse";
  it.each<readonly [string, string, string]>([
    ["is empty", "", "holds no response"],
    ["is blank", " \n ", "holds no response"],
    ["is an empty list", "[]", "holds no response"],
    ["is no JSON", "hunter2", "line 1 is no JSON, and neither is the file as a whole"],
    ["is broken in a line", `${first}\n{"secret": hunter2}\n`, "line 2 is no JSON, and neither is the file as a whole"],
    ["is a list that is cut off", `[${first},`, "line 1 is no JSON, and neither is the file as a whole"],
    ["is a number", "5", `response 1 ${wire}`],
    ["is null", "null", `response 1 ${wire}`],
    ["holds a null", `[${first}, null]`, `response 2 ${wire}`],
    ["holds a list", `[[${first}]]`, `response 1 ${wire}`],
    ["holds an error of a provider", `${first}\n{"error": {"message": "hunter2"}}`, `line 2 ${wire}`],
    ["holds a chunk of a stream", '{"choices": [{"delta": {"content": "hunter2"}}]}', `response 1 ${wire}`],
    [
      "holds an event of a stream",
      '{"type": "message_start", "message": {}}\n{"type": "message_stop"}',
      `line 1 ${wire}`,
    ],
    ["is of another wire", '{"output": {"message": {"role": "assistant", "content": []}}}', `response 1 ${wire}`],
  ])("that %s is refused with file and place, and without its content", (_what, content, fault) => {
    const path = fileOf(content);
    let thrown: unknown;
    try {
      recordedModel(path);
    } catch (error) {
      thrown = error;
    }
    const isPlace = /^(?:line|response) /.test(fault);
    expect(thrown).toBeInstanceOf(KernelError);
    expect(thrown).toMatchObject({
      code: "INVALID_OPTIONS",
      subject: "file",
      message: `The recording ${path}${isPlace ? "," : ""} ${fault}.`,
    });
    expect(String(thrown)).not.toContain("hunter2");
  });

  it("that is not there is refused by its name", () => {
    const path = join(folder, "nowhere.json");
    expect(() => recordedModel(path)).toThrow(`The recording ${path} cannot be read.`);
    expect(() => recordedModel(folder)).toThrow("cannot be read");
  });
});
