import type { Delta, Message, ModelRequest, ModelResponse } from "toolkernel";
import { type AiSdkLanguageModel, type FromAiSdkModelOptions, fromAiSdkModel } from "toolkernel/ai-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apiError, type FakeModel, streamingModel, wholeModel } from "./wires/language-models.ts";

const TOOL = { name: "read", description: "Reads \ud83d", inputSchema: { type: "object" } };
const HELLO: Message = { role: "user", content: "Hello" };
const DONE = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} };
const TEXT = [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "Hi." },
  { type: "text-end", id: "0" },
];

interface Asked {
  readonly response: ModelResponse;
  readonly deltas: readonly Delta[];
}

async function ask(
  model: AiSdkLanguageModel,
  request: Partial<ModelRequest> = {},
  options: FromAiSdkModelOptions & { readonly signal?: AbortSignal } = {},
): Promise<Asked> {
  const { signal = new AbortController().signal, ...own } = options;
  const deltas: Delta[] = [];
  const whole = { systemPrompt: undefined, messages: [HELLO], tools: [], turn: 1, ...request };
  const response = await fromAiSdkModel(model, own).generate(whole, { signal, emit: (delta) => deltas.push(delta) });
  return { response, deltas };
}

async function promptFor(model: FakeModel, request: Partial<ModelRequest>): Promise<unknown> {
  await ask(model, request);
  return model.asked[0]?.prompt;
}

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

describe("fromAiSdkModel: prompts", () => {
  const REQUEST: Partial<ModelRequest> = {
    systemPrompt: "Be brief. \ud83d",
    tools: [TOOL],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", mediaType: "image/png", data: "aW1n" },
        ],
      },
      {
        role: "assistant",
        stopReason: "toolUse",
        content: [
          { type: "reasoning", text: "Hm.", providerData: { providerMetadata: { anthropic: { signature: "c2ln" } } } },
          { type: "text", text: "" },
          {
            type: "toolCall",
            id: "call_1",
            name: "read",
            arguments: '{"path":"a"}',
            providerData: { providerMetadata: { google: { thoughtSignature: "dA==" } } },
          },
          { type: "toolCall", id: "call_2", name: "read", arguments: '{"path' },
        ],
      },
      {
        role: "toolResult",
        callId: "call_1",
        toolName: "read",
        callIndex: 0,
        content: [
          { type: "text", text: "text" },
          { type: "file", mediaType: "application/pdf", data: "cGRm", name: "a.pdf" },
        ],
        isError: false,
        outcomeUncertain: false,
        terminate: false,
        providerData: { providerMetadata: { google: { thoughtSignature: "dA==" } } },
      },
      {
        role: "toolResult",
        callId: "call_2",
        toolName: "read",
        callIndex: 1,
        content: [{ type: "text", text: "not JSON" }],
        isError: true,
        outcomeUncertain: false,
        terminate: false,
      },
      { role: "policy", policy: "agent_policy", content: "Think again.", audience: "internal" },
    ],
  };

  function expectedPrompt(image: unknown, file: object): object[] {
    const googleOptions = { providerOptions: { google: { thoughtSignature: "dA==" } } };
    return [
      { role: "system", content: "Be brief. \ufffd" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "file", mediaType: "image/png", data: image },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } },
          { type: "tool-call", toolCallId: "call_1", toolName: "read", input: { path: "a" }, ...googleOptions },
          { type: "tool-call", toolCallId: "call_2", toolName: "read", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "read",
            output: { type: "content", value: [{ type: "text", text: "text" }, file] },
            ...googleOptions,
          },
          {
            type: "tool-result",
            toolCallId: "call_2",
            toolName: "read",
            output: { type: "error-text", value: "not JSON" },
          },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Think again." }] },
    ];
  }

  it.each([
    ["v2", "aW1n", { type: "media", data: "cGRm", mediaType: "application/pdf" }],
    ["v3", "aW1n", { type: "file-data", data: "cGRm", mediaType: "application/pdf", filename: "a.pdf" }],
    [
      "v4",
      { type: "data", data: "aW1n" },
      { type: "file", data: { type: "data", data: "cGRm" }, mediaType: "application/pdf", filename: "a.pdf" },
    ],
  ] as const)("a transcript is laid out as specification %s wants it", async (version, image, file) => {
    const model = streamingModel([[DONE]], version);
    expect(await promptFor(model, REQUEST)).toEqual(expectedPrompt(image, file));
  });

  it("tools are offered with their JSON Schema, in well-formed text; none means no tools at all", async () => {
    const model = streamingModel([[DONE], [DONE]]);
    await ask(model, { tools: [TOOL] });
    await ask(model);
    expect(model.asked[0]).toMatchObject({
      tools: [{ type: "function", name: "read", description: "Reads \ufffd", inputSchema: { type: "object" } }],
      toolChoice: { type: "auto" },
    });
    expect(Object.keys(model.asked[1] ?? {})).toEqual(["prompt", "abortSignal"]);
  });

  it("what the kernel has no part for goes back where it stood: the provider's own tools, files, a text's metadata", async () => {
    const parts = [
      { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: { hits: 2 } },
      { type: "source", sourceType: "url", id: "u", url: "https://example.org" },
      { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "Found." },
      { type: "text-end", id: "0", providerMetadata: { openai: { itemId: "msg_1" } } },
      DONE,
    ];
    const model = streamingModel([parts, [DONE]]);
    const { response, deltas } = await ask(model);
    expect(response.content.filter((part) => part.type === "text")).toEqual([{ type: "text", text: "Found." }]);
    expect(response.stopReason).toBe("stop");
    expect(deltas).toEqual([{ type: "text", text: "Found." }]);
    // A transcript may have been stored in between.
    const assistant = JSON.parse(JSON.stringify({ role: "assistant", ...response })) as Message;
    await ask(model, { messages: [HELLO, assistant, HELLO] });
    expect(model.asked[1]?.prompt).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: { q: "x" }, providerExecuted: true },
          {
            type: "tool-result",
            toolCallId: "s1",
            toolName: "web_search",
            output: { type: "json", value: { hits: 2 } },
          },
          { type: "file", mediaType: "image/png", data: "AQI=" },
          { type: "text", text: "Found.", providerOptions: { openai: { itemId: "msg_1" } } },
        ],
      },
      { role: "user" },
    ]);
  });
});

describe("fromAiSdkModel: errors and retries", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("what may pass by itself is retried twice, after half a second and a second", async () => {
    const model = streamingModel([apiError({ isRetryable: true }), apiError({ isRetryable: true }), [...TEXT, DONE]]);
    const asking = ask(model);
    await vi.advanceTimersByTimeAsync(499);
    expect(model.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await asking).response.content).toEqual([{ type: "text", text: "Hi." }]);
    expect(model.asked).toHaveLength(3);
  });

  it("the provider's own wait is kept, up to a minute", async () => {
    const slow = apiError({ isRetryable: true, responseHeaders: { "retry-after": "7" } });
    const tooSlow = apiError({ isRetryable: true, responseHeaders: { "retry-after": "3600" } });
    const model = streamingModel([slow, tooSlow, [DONE]]);
    const asking = ask(model);
    await vi.advanceTimersByTimeAsync(6_999);
    expect(model.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    await asking;
    expect(model.asked).toHaveLength(3);
  });

  it("what will not pass is thrown at once, and so is the last failure", async () => {
    const fatal = apiError({ isRetryable: false });
    await expect(ask(streamingModel([fatal]))).rejects.toBe(fatal);
    const last = apiError({ isRetryable: true });
    await expect(ask(streamingModel([last]), {}, { maxRetries: 0 })).rejects.toBe(last);
  });

  it("nothing is retried once a piece has been emitted", async () => {
    const overloaded = apiError({ isRetryable: true });
    const model = streamingModel([[...TEXT, { type: "error", error: overloaded }], [DONE]]);
    await expect(ask(model)).rejects.toBe(overloaded);
    expect(model.asked).toHaveLength(1);
  });

  it("an abort ends the wait, and the signal reaches the model", async () => {
    const controller = new AbortController();
    const model = streamingModel([apiError({ isRetryable: true }), [DONE]]);
    const asking = ask(model, {}, { signal: controller.signal });
    const refused = expect(asking).rejects.toBe("the user left");
    await vi.advanceTimersByTimeAsync(100);
    controller.abort("the user left");
    await refused;
    expect(model.asked).toEqual([expect.objectContaining({ abortSignal: controller.signal })]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
