import type { ModelResponse } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask } from "../support/agent-bench.ts";
import { ANTHROPIC, CHAT, GEMINI, RESPONSES, responsesOf, text } from "../support/recorded-model-scene.ts";

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
