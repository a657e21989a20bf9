import { callsFromLangChain, toLangChainMessages } from "toolkernel/langchain";
import { describe, expect, it } from "vitest";
import { EVERY_PART, resultOf } from "./wires/results.ts";

describe("LangChain messages", () => {
  it("calls whose arguments could not be parsed are calls too, at their place in the provider's own list", () => {
    const message = {
      tool_calls: [
        { type: "tool_call", id: "a", name: "read", args: { path: "a" } },
        { type: "tool_call", id: "c", name: "read", args: { path: "c" } },
      ],
      invalid_tool_calls: [
        { type: "invalid_tool_call", id: "b", name: "read", args: '{"path', error: "Malformed args." },
      ],
      additional_kwargs: { tool_calls: [{ id: "a" }, { id: "b" }, { id: "c" }] },
      response_metadata: { finish_reason: "tool_calls" },
    };
    expect(callsFromLangChain(message)).toEqual({
      stopReason: "toolUse",
      calls: [
        { id: "a", name: "read", arguments: { path: "a" } },
        { id: "b", name: "read", arguments: '{"path' },
        { id: "c", name: "read", arguments: { path: "c" } },
      ],
    });
  });

  it("calls that the provider's list does not name keep their order, last", () => {
    const message = {
      content: [{ type: "tool_use", id: "b" }],
      tool_calls: [
        { name: "first", args: {} },
        { id: "b", name: "second", args: {} },
      ],
      invalid_tool_calls: [{ name: "third", args: "{" }],
    };
    expect(callsFromLangChain(message).calls.map((call) => call.name)).toEqual(["second", "first", "third"]);
  });

  it.each([
    [{ stop_reason: "max_tokens" }, "length"],
    [{ stopReason: "end_turn" }, "toolUse"],
    [{ finishReason: "SAFETY" }, "error"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "error"],
    [{ finish_reason: "stop", refusal: "No." }, "error"],
    [{}, "toolUse"],
  ])("PREP-10: metadata %j means %j", (response_metadata, stopReason) => {
    const message = { tool_calls: [{ id: "a", name: "read", args: {} }], response_metadata };
    expect(callsFromLangChain(message).stopReason).toBe(stopReason);
  });

  it("a result says whether it is an error; images go as parts, the rest as text or a note", () => {
    const messages = [resultOf(), resultOf({ callId: "call_2", callIndex: 1, isError: true, content: EVERY_PART })];
    expect(toLangChainMessages({ messages })).toEqual([
      { role: "tool", tool_call_id: "call_1", name: "read", status: "success", content: "done" },
      {
        role: "tool",
        tool_call_id: "call_2",
        name: "read",
        status: "error",
        content: [
          { type: "text", text: "seen: \ufffd" },
          { type: "text", text: '{"cents":500,"tags":["a"]}' },
          { type: "image_url", image_url: { url: "data:image/png;base64,aW1n" } },
          { type: "text", text: "[left out, since a tool result cannot carry it here: audio audio/wav, 5 bytes]" },
          {
            type: "text",
            text: '[left out, since a tool result cannot carry it here: file application/pdf "bill.pdf", 3 bytes]',
          },
          { type: "text", text: '[file text/csv "table.csv"]\na,b\n1,2' },
          { type: "text", text: "[resource file:///notes.txt (text/plain)]\nremember" },
        ],
      },
    ]);
  });
});
