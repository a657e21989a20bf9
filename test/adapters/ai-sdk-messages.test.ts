import { callsFromAiSdk, toAiSdkMessages } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import { EVERY_PART, resultOf } from "./wires/results.ts";

const CALL = { type: "tool-call", toolCallId: "call_1", toolName: "read", input: { path: "a" } };

describe("AI SDK messages", () => {
  it("what the provider runs, and what has its result beside it, is left alone", () => {
    const content = [
      { ...CALL, toolCallId: "p", providerExecuted: true },
      { ...CALL, toolCallId: "done" },
      { type: "tool-result", toolCallId: "done", toolName: "read", output: "ran" },
      { ...CALL, toolCallId: "failed" },
      { type: "tool-error", toolCallId: "failed", toolName: "read", error: "no" },
      CALL,
    ];
    expect(callsFromAiSdk({ content, finishReason: "tool-calls" })).toEqual({
      stopReason: "toolUse",
      calls: [{ id: "call_1", name: "read", arguments: { path: "a" } }],
    });
  });

  it("the calls of a result without content parts, and of an assistant message, are read too", () => {
    const calls = [{ id: "call_1", name: "read", arguments: { path: "a" } }];
    expect(callsFromAiSdk({ toolCalls: [CALL], finishReason: "tool-calls" }).calls).toEqual(calls);
    const providerOptions = { google: { thoughtSignature: "c2ln" } };
    expect(callsFromAiSdk({ content: [{ ...CALL, providerOptions }] })).toEqual({
      stopReason: "toolUse",
      calls: [{ ...calls[0], providerData: { providerMetadata: providerOptions } }],
    });
    expect(callsFromAiSdk({ content: "Hello." })).toEqual({ calls: [], stopReason: "stop" });
  });

  it.each([
    [{ unified: "other", raw: undefined }, "toolUse"],
    [{ unified: "other", raw: "odd" }, "error"],
    [{ unified: "length", raw: "length" }, "length"],
    ["unknown", "error"],
  ])("PREP-10: the finish reason %j means %j", (finishReason, stopReason) => {
    expect(callsFromAiSdk({ content: [CALL], finishReason }).stopReason).toBe(stopReason);
  });

  it("all results stand in one tool message: text, JSON, errors, and the provider's own metadata echoed", () => {
    const providerMetadata = { openai: { itemId: "fc_1" } };
    const messages = [
      resultOf({ providerData: { providerMetadata } }),
      resultOf({ callId: "call_2", callIndex: 1, content: [{ type: "json", value: { n: 1 } }] }),
      resultOf({ callId: "call_3", callIndex: 2, isError: true }),
      resultOf({ callId: "call_4", callIndex: 3, isError: true, content: [{ type: "json", value: ["\ud83d"] }] }),
    ];
    const part = (toolCallId: string, output: object) => ({
      type: "tool-result",
      toolCallId,
      toolName: "read",
      output,
    });
    expect(toAiSdkMessages({ messages })).toEqual([
      {
        role: "tool",
        content: [
          { ...part("call_1", { type: "text", value: "done" }), providerOptions: providerMetadata },
          part("call_2", { type: "json", value: { n: 1 } }),
          part("call_3", { type: "error-text", value: "done" }),
          part("call_4", { type: "error-json", value: ["\ufffd"] }),
        ],
      },
    ]);
  });

  it("bytes go as parts; in an error, which is text, they are named", () => {
    const [message] = toAiSdkMessages({ messages: [resultOf({ content: EVERY_PART })] });
    expect(message?.content).toMatchObject([
      {
        output: {
          type: "content",
          value: [
            { type: "text", text: "seen: \ufffd" },
            { type: "text", text: '{"cents":500,"tags":["a"]}' },
            { type: "image-data", data: "aW1n", mediaType: "image/png" },
            { type: "file-data", data: "c291bmQ=", mediaType: "audio/wav" },
            { type: "file-data", data: "cGRm", mediaType: "application/pdf", filename: "bill.pdf" },
            { type: "text", text: '[file text/csv "table.csv"]\na,b\n1,2' },
            { type: "text", text: "[resource file:///notes.txt (text/plain)]\nremember" },
          ],
        },
      },
    ]);
    const image = EVERY_PART.slice(2, 3);
    expect(toAiSdkMessages({ messages: [resultOf({ isError: true, content: image })] })).toMatchObject([
      {
        content: [
          {
            output: {
              type: "error-text",
              value: '[left out, since a tool result cannot carry it here: image image/png "chart.png", 3 bytes]',
            },
          },
        ],
      },
    ]);
  });
});
