import { defineTool } from "toolkernel";
import { callsFromChat, toChatMessages, toChatTools } from "toolkernel/openai";
import { describe, expect, it } from "vitest";
import { EVERY_PART, resultOf } from "./wires/results.ts";

const read = defineTool({
  name: "read",
  description: "Reads a file \ud83d",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: () => "text",
});

describe("OpenAI Chat Completions", () => {
  it("tools are declared with their JSON Schema as it is, in well-formed text", () => {
    expect(toChatTools([read])).toEqual([
      {
        type: "function",
        function: {
          name: "read",
          description: "Reads a file \ufffd",
          parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        },
      },
    ]);
  });

  it("a custom tool's text is { input }, and its result an ordinary tool message", () => {
    const draft = callsFromChat({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { tool_calls: [{ id: "call_1", type: "custom", custom: { name: "sql", input: "SELECT 1" } }] },
        },
      ],
    });
    expect(draft).toEqual({
      stopReason: "toolUse",
      calls: [{ id: "call_1", name: "sql", arguments: { input: "SELECT 1" }, providerData: { type: "custom" } }],
    });
    const result = resultOf({ toolName: "sql", providerData: { type: "custom" } });
    expect(toChatMessages({ messages: [result] })).toEqual([{ role: "tool", tool_call_id: "call_1", content: "done" }]);
  });

  it("arguments that a gateway has parsed stay an object; parsed values that are none become text to be refused", () => {
    const calls = [{ path: "a" }, [1], 5].map((args) => ({
      id: "c",
      type: "function",
      function: { name: "f", arguments: args },
    }));
    const draft = callsFromChat({ choices: [{ finish_reason: "tool_calls", message: { tool_calls: calls } }] });
    expect(draft.calls.map((call) => call.arguments)).toEqual([{ path: "a" }, "[1]", "5"]);
  });

  it("PREP-10: a refusal beside a normal reason is an error", () => {
    const choice = { finish_reason: "stop", message: { refusal: "I cannot do that." } };
    expect(callsFromChat({ choices: [choice] })).toEqual({ calls: [], stopReason: "error" });
  });

  it("a completion without choices has no calls", () => {
    expect(callsFromChat({ choices: [] })).toEqual({ calls: [], stopReason: "stop" });
    expect(callsFromChat({})).toEqual({ calls: [], stopReason: "stop" });
  });

  it("a tool message is text alone: what it cannot carry is named", () => {
    expect(toChatMessages({ messages: [resultOf({ content: EVERY_PART })] })).toEqual([
      {
        role: "tool",
        tool_call_id: "call_1",
        content: [
          "seen: \ufffd",
          '{"cents":500,"tags":["a"]}',
          '[left out, since a tool result cannot carry it here: image image/png "chart.png", 3 bytes]',
          "[left out, since a tool result cannot carry it here: audio audio/wav, 5 bytes]",
          '[left out, since a tool result cannot carry it here: file application/pdf "bill.pdf", 3 bytes]',
          '[file text/csv "table.csv"]\na,b\n1,2',
          "[resource file:///notes.txt (text/plain)]\nremember",
        ].join("\n"),
      },
    ]);
  });
});
