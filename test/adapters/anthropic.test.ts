import { defineTool } from "toolkernel";
import { callsFromAnthropic, toAnthropicMessages, toAnthropicTools } from "toolkernel/anthropic";
import { describe, expect, it } from "vitest";
import type { PolicyMessage } from "../../src/domain/message.ts";
import { EVERY_PART, resultOf } from "./wires/results.ts";

const POLICY: PolicyMessage = { role: "policy", policy: "agent_policy", content: "Think again.", audience: "internal" };

describe("Anthropic Messages", () => {
  it("tools are declared with their JSON Schema, whose top level says that it is an object", () => {
    const tool = defineTool({ name: "now", description: "Tells the time", inputSchema: {}, execute: () => "noon" });
    expect(toAnthropicTools([tool])).toEqual([
      { name: "now", description: "Tells the time", input_schema: { type: "object" } },
    ]);
  });

  it("what the provider runs itself is left alone, and who called is kept", () => {
    const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };
    const message = {
      stop_reason: "tool_use",
      content: [
        { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: {} },
        { type: "mcp_tool_use", id: "mcptoolu_1", name: "search", input: {}, server_name: "s" },
        { type: "tool_use", id: "toolu_1", name: "roll", input: { sides: 6 }, caller },
      ],
    };
    expect(callsFromAnthropic(message)).toEqual({
      stopReason: "toolUse",
      calls: [{ id: "toolu_1", name: "roll", arguments: { sides: 6 }, providerData: { caller } }],
    });
  });

  it("a message of plain text has no calls", () => {
    expect(callsFromAnthropic({ stop_reason: "end_turn", content: "Hello." })).toEqual({
      calls: [],
      stopReason: "stop",
    });
  });

  it("all results stand in one user message, errors marked, the kernel's text last", () => {
    const messages = [resultOf(), resultOf({ callId: "call_2", callIndex: 1, isError: true }), POLICY];
    expect(toAnthropicMessages({ messages })).toEqual([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "done" }] },
          { type: "tool_result", tool_use_id: "call_2", content: [{ type: "text", text: "done" }], is_error: true },
          { type: "text", text: "Think again." },
        ],
      },
    ]);
  });

  it("calls from the provider's code are answered by results alone, the kernel's text within the last", () => {
    const providerData = { caller: { type: "code_execution_20250825", tool_id: "srvtoolu_1" } };
    const messages = [resultOf({ providerData }), resultOf({ callId: "call_2", callIndex: 1, providerData }), POLICY];
    expect(toAnthropicMessages({ messages })).toEqual([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "done" }] },
          {
            type: "tool_result",
            tool_use_id: "call_2",
            content: [
              { type: "text", text: "done" },
              { type: "text", text: "Think again." },
            ],
          },
        ],
      },
    ]);
  });

  it("an empty result has no content, since the API refuses empty text; a toolset's name is echoed", () => {
    const empty = resultOf({ content: [{ type: "text", text: " \n" }], providerData: { toolset_name: "browser" } });
    expect(toAnthropicMessages({ messages: [empty] })).toEqual([
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", toolset_name: "browser" }] },
    ]);
  });

  it("images and PDF documents go as parts, the rest as text or a note", () => {
    const [message] = toAnthropicMessages({ messages: [resultOf({ content: EVERY_PART })] });
    expect(message?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "call_1",
        content: [
          { type: "text", text: "seen: \ufffd" },
          { type: "text", text: '{"cents":500,"tags":["a"]}' },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aW1n" } },
          { type: "text", text: "[left out, since a tool result cannot carry it here: audio audio/wav, 5 bytes]" },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "cGRm" },
            title: "bill.pdf",
          },
          { type: "text", text: '[file text/csv "table.csv"]\na,b\n1,2' },
          { type: "text", text: "[resource file:///notes.txt (text/plain)]\nremember" },
        ],
      },
    ]);
  });
});
