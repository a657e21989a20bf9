import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelResponse } from "toolkernel";
import { recordedModel } from "toolkernel/testing";
import { afterAll, expect } from "vitest";

/** A folder of this test file. */
export const folder = mkdtempSync(join(tmpdir(), "recorded-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
/** Writes a recording and answers where it lies. */
export function fileOf(text: string): string {
  files += 1;
  const path = join(folder, `recording-${files}.json`);
  writeFileSync(path, text);
  return path;
}

/** What a recorded model is asked, which it does not look at. */
export const request = { systemPrompt: undefined, messages: [], tools: [], turn: 1 };

/** All responses that a recording gives, until it fails. */
export async function responsesOf(text: string, count: number): Promise<ModelResponse[]> {
  const model = recordedModel(fileOf(text));
  const responses: ModelResponse[] = [];
  const context = { signal: new AbortController().signal, emit: () => undefined };
  for (let asked = 0; asked < count; asked++) responses.push(await model.generate(request, context));
  await expect(model.generate(request, context)).rejects.toThrow(
    `has ${count} responses; request ${count + 1} has none`,
  );
  return responses;
}

/** A part that is text, as most wires write it. */
export const text = (value: string) => ({ type: "text", text: value });
/** A response of Chat Completions. */
export const CHAT = {
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
/** A response of OpenAI Responses. */
export const RESPONSES = {
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
/** A response of Anthropic Messages. */
export const ANTHROPIC = {
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
/** A response of Gemini. */
export const GEMINI = {
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
