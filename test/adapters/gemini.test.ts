import { defineTool } from "toolkernel";
import { callsFromGemini, toGeminiContents, toGeminiTools } from "toolkernel/gemini";
import { describe, expect, it } from "vitest";
import { EVERY_PART, resultOf } from "./wires/results.ts";

function candidate(...parts: object[]): object {
  return { candidates: [{ finishReason: "STOP", content: { role: "model", parts } }] };
}

describe("Gemini", () => {
  it("tools are declared in one list, by JSON Schema", () => {
    const inputSchema = { type: "object", properties: { path: { type: "string" } } };
    const tool = defineTool({ name: "read", description: "Reads", inputSchema, execute: () => "text" });
    expect(toGeminiTools([tool])).toEqual([
      { functionDeclarations: [{ name: "read", description: "Reads", parametersJsonSchema: inputSchema }] },
    ]);
    expect(toGeminiTools([])).toEqual([]);
  });

  it("what the provider runs itself is left alone, and the thought signature is kept", () => {
    const response = candidate(
      { executableCode: { code: "1", language: "PYTHON" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK" } },
      { toolCall: { toolType: "GOOGLE_SEARCH", id: "t1" } },
      { functionCall: { id: "f1", name: "read", args: { path: "a" } }, thoughtSignature: "c2ln" },
    );
    expect(callsFromGemini(response)).toEqual({
      stopReason: "toolUse",
      calls: [
        { id: "f1", name: "read", arguments: { path: "a" }, providerData: { thoughtSignature: "c2ln", id: "f1" } },
      ],
    });
  });

  it("C39: a call of which only pieces of a stream are there cuts the response", () => {
    const partialArgs = [{ jsonPath: "$.path", stringValue: "a" }];
    expect(callsFromGemini(candidate({ functionCall: { name: "read", partialArgs } })).stopReason).toBe("length");
    expect(callsFromGemini(candidate({ functionCall: { name: "read", willContinue: true } })).stopReason).toBe(
      "length",
    );
    expect(callsFromGemini(candidate({ functionCall: { name: "read", willContinue: false } })).stopReason).toBe(
      "toolUse",
    );
  });

  it("PREP-10: a blocked prompt is an error", () => {
    expect(callsFromGemini({ promptFeedback: { blockReason: "SAFETY" } })).toEqual({ calls: [], stopReason: "error" });
  });

  it("a result is an output, a failure an error, and JSON stays JSON in well-formed text", () => {
    const messages = [
      resultOf({ content: [{ type: "json", value: { "k\ud83d": ["\ud83d", 1] } }], providerData: { id: "f1" } }),
      resultOf({ callId: "kernel-2", callIndex: 1, isError: true, providerData: {} }),
    ];
    expect(toGeminiContents({ messages })).toEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { id: "f1", name: "read", response: { output: { "k\ufffd": ["\ufffd", 1] } } } },
          { functionResponse: { name: "read", response: { error: "done" } } },
        ],
      },
    ]);
  });

  it("a call that the host made itself goes back under the host's id", () => {
    expect(toGeminiContents({ messages: [resultOf({ callId: "mine" })] })).toEqual([
      { role: "user", parts: [{ functionResponse: { id: "mine", name: "read", response: { output: "done" } } }] },
    ]);
  });

  it("bytes stand beside the function responses, behind a text that says whose they are", () => {
    const [content] = toGeminiContents({ messages: [resultOf({ content: EVERY_PART }), resultOf({ callIndex: 1 })] });
    expect(content?.parts).toEqual([
      {
        functionResponse: {
          id: "call_1",
          name: "read",
          response: {
            output: [
              "seen: \ufffd",
              '{"cents":500,"tags":["a"]}',
              '[image image/png "chart.png": see below]',
              "[audio audio/wav: see below]",
              '[file application/pdf "bill.pdf": see below]',
              '[file text/csv "table.csv"]\na,b\n1,2',
              "[resource file:///notes.txt (text/plain)]\nremember",
            ].join("\n"),
          },
        },
      },
      { functionResponse: { id: "call_1", name: "read", response: { output: "done" } } },
      { text: '[image image/png "chart.png", of call 1 (read)]' },
      { inlineData: { mimeType: "image/png", data: "aW1n" } },
      { text: "[audio audio/wav, of call 1 (read)]" },
      { inlineData: { mimeType: "audio/wav", data: "c291bmQ=" } },
      { text: '[file application/pdf "bill.pdf", of call 1 (read)]' },
      { inlineData: { mimeType: "application/pdf", data: "cGRm" } },
    ]);
  });
});
