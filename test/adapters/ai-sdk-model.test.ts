import { fromAiSdkModel } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import { ask, DONE, TEXT } from "../support/ai-sdk-model-scene.ts";
import { streamingModel, wholeModel } from "./wires/language-models.ts";

describe("fromAiSdkModel: responses", () => {
  const PARTS = [
    { type: "stream-start", warnings: [] },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Let me " },
    { type: "reasoning-delta", id: "r", delta: "see." },
    { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "c2ln" } } },
    ...TEXT,
    { type: "tool-input-start", id: "call_1", toolName: "read" },
    { type: "tool-input-delta", id: "call_1", delta: '{"path"' },
    { type: "tool-input-delta", id: "call_1", delta: ':"a"}' },
    { type: "tool-input-end", id: "call_1" },
    {
      type: "tool-call",
      toolCallId: "call_1",
      toolName: "read",
      input: '{"path":"a"}',
      providerMetadata: { google: { thoughtSignature: "dGhpbms=" } },
    },
    { type: "tool-call", toolCallId: "call_2", toolName: "list", input: "" },
  ];

  it("a stream is joined: reasoning, text and calls in order, with their provider metadata", async () => {
    const finish = {
      type: "finish",
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { total: 5 } },
    };
    const { response, deltas } = await ask(streamingModel([[...PARTS, finish]]));
    expect(response).toEqual({
      content: [
        {
          type: "reasoning",
          text: "Let me see.",
          providerData: { providerMetadata: { anthropic: { signature: "c2ln" } } },
        },
        { type: "text", text: "Hi." },
        {
          type: "toolCall",
          id: "call_1",
          name: "read",
          arguments: '{"path":"a"}',
          providerData: { providerMetadata: { google: { thoughtSignature: "dGhpbms=" } } },
        },
        { type: "toolCall", id: "call_2", name: "list", arguments: "" },
      ],
      stopReason: "toolUse",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    });
    expect(deltas).toEqual([
      { type: "reasoning", text: "Let me " },
      { type: "reasoning", text: "see." },
      { type: "text", text: "Hi." },
      { type: "toolCall", id: "call_1", name: "read" },
      { type: "toolCall", id: "call_1", argumentsText: '{"path"' },
      { type: "toolCall", id: "call_1", argumentsText: ':"a"}' },
      { type: "toolCall", id: "call_2", name: "list", argumentsText: "" },
    ]);
  });

  it("specification 2 counts tokens flatly and gives its reason as a word", async () => {
    const finish = {
      type: "finish",
      finishReason: "tool-calls",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 17, reasoningTokens: 2 },
    };
    const { response } = await ask(streamingModel([[...PARTS, finish]], "v2"));
    expect(response).toMatchObject({
      stopReason: "toolUse",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 17 },
    });
  });

  it("a model that cannot stream is asked for the whole response, and its parts are emitted", async () => {
    const content = [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi." },
      { type: "tool-call", toolCallId: "call_1", toolName: "read", input: "{}" },
    ];
    const model = wholeModel([{ content, finishReason: { unified: "other" }, usage: {} }]);
    const { response, deltas } = await ask(model);
    expect(response).toEqual({
      content: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Hi." },
        { type: "toolCall", id: "call_1", name: "read", arguments: "{}" },
      ],
      // A whole response without a reason ended as it should.
      stopReason: "toolUse",
    });
    expect(deltas).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi." },
      { type: "toolCall", id: "call_1", name: "read", argumentsText: "{}" },
    ]);
  });

  it.each([
    [{ unified: "length", raw: "max_tokens" }, "length", undefined],
    [
      { unified: "content-filter", raw: "safety" },
      "error",
      'The language model ended its response with the reason "safety".',
    ],
    [{ unified: "other", raw: "odd" }, "error", 'The language model ended its response with the reason "odd".'],
    [{ unified: "other", raw: undefined }, "error", 'The language model ended its response with the reason "other".'],
    ["unknown", "error", 'The language model ended its response with the reason "unknown".'],
    [undefined, "error", "The language model's response ended without a reason."],
  ])("PREP-10: a stream that finishes with %j is %j", async (finishReason, stopReason, errorMessage) => {
    const call = { type: "tool-call", toolCallId: "call_1", toolName: "read", input: "{}" };
    const { response } = await ask(streamingModel([[call, { type: "finish", finishReason }]]));
    expect(response).toEqual({
      content: [{ type: "toolCall", id: "call_1", name: "read", arguments: "{}" }],
      stopReason,
      ...(errorMessage && { errorMessage }),
    });
  });

  it("PREP-10: a stream that ends without a finish, or breaks, is no response", async () => {
    await expect(ask(streamingModel([TEXT]))).rejects.toThrow("ended before the response was finished");
    await expect(ask(streamingModel([[...TEXT, new Error("broken pipe")]]))).rejects.toThrow("broken pipe");
    const streamed = [...TEXT, { type: "error", error: "overloaded" }];
    await expect(ask(streamingModel([streamed]))).rejects.toMatchObject({ cause: "overloaded" });
  });

  it("an approval that the provider asks for cannot be given here", async () => {
    const parts = [{ type: "tool-approval-request", approvalId: "a", toolCallId: "c" }, DONE];
    await expect(ask(streamingModel([parts]))).rejects.toThrow("asks for approval of a tool that it runs itself");
  });

  it("a model's name and a model of another specification are refused, and so are odd options", () => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTIONS" });
    expect(() => fromAiSdkModel("openai/gpt" as never)).toThrow(invalid);
    expect(() => fromAiSdkModel({ ...streamingModel([]), specificationVersion: "v1" as never })).toThrow(invalid);
    expect(() => fromAiSdkModel(streamingModel([]), { maxRetries: -1 })).toThrow(invalid);
    expect(() => fromAiSdkModel(streamingModel([]), { retries: 1 } as object)).toThrow(invalid);
  });
});
