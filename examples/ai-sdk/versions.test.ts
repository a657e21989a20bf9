import { modelMessageSchema, simulateReadableStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as ai5 from "ai5";
import { MockLanguageModelV2 } from "ai5/test";
import { Agent, createToolSession, type JsonObject } from "toolkernel";
import { callsFromAiSdk, fromAiSdkModel, fromAiSdkTools, toAiSdk, toAiSdkMessages } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";
import * as z34 from "zod3/v4";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock, type Stock } from "../support/stock.ts";

const USAGE_2 = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const USAGE_3 = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

const callParts = CALLS.map(({ id, name, arguments: args }) => ({
  type: "tool-call" as const,
  toolCallId: id,
  toolName: name,
  input: JSON.stringify(args),
}));

function textParts(text: string): object[] {
  return [
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: text },
    { type: "text-end", id: "0" },
  ];
}

/** A streaming model of the AI SDK's version 6. */
function streamingModel(): MockLanguageModelV3 {
  const finish = (reason: string) => ({
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: USAGE_3,
  });
  const streams = [
    [{ type: "stream-start", warnings: [] }, ...callParts, finish("tool-calls")],
    [{ type: "stream-start", warnings: [] }, ...textParts(ANSWER), finish("stop")],
  ];
  return new MockLanguageModelV3({
    doStream: streams.map((parts) => ({
      stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }),
    })) as never,
  });
}

/** A model of version 5, which gives whole responses. */
function versionFiveModel(): MockLanguageModelV2 {
  const answers = [
    { content: callParts, finishReason: "tool-calls", usage: USAGE_2, warnings: [] },
    { content: [{ type: "text", text: ANSWER }], finishReason: "stop", usage: USAGE_2, warnings: [] },
  ];
  return new MockLanguageModelV2({ doGenerate: answers as never });
}

function shopTools(stock: Stock) {
  const inputSchema = z.object({ item: z.string() });
  const take = tool({ description: "Takes one.", inputSchema, execute: ({ item }) => stock.take(item) });
  return fromAiSdkTools({ take }, { take: { executionMode: "parallel", conflictKey: ({ item }) => item } });
}

describe("models of the AI SDK in the Agent", () => {
  it("a streaming model of version 6 drives a run, its pieces streamed", async () => {
    const stock = createStock({ apples: 3 });
    const agent = new Agent({ model: fromAiSdkModel(streamingModel()), tools: shopTools(stock) });
    const run = agent.run(PROMPT);
    const deltas: object[] = [];
    for await (const event of run) {
      if (event.kind === "messageUpdated") {
        deltas.push(event.delta);
      }
    }
    const { status, messages } = await run.result;
    expect(status).toBe("completed");
    expect(messages.at(-1)).toMatchObject({ content: [{ type: "text", text: ANSWER }], usage: { totalTokens: 2 } });
    expect(deltas.at(-1)).toEqual({ type: "text", text: ANSWER });
    expect(await stock.count("apples")).toBe(1);
  });

  it("a model of version 5 does too", async () => {
    const stock = createStock({ apples: 3 });
    const model = versionFiveModel();
    const agent = new Agent({ model: fromAiSdkModel(model), tools: shopTools(stock) });
    const { status } = await agent.run(PROMPT).result;
    expect(status).toBe("completed");
    expect(await stock.count("apples")).toBe(1);
    expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call_1", output: { type: "json", value: 2 } },
        { toolCallId: "call_2", output: { type: "json", value: 1 } },
      ],
    });
  });
});

describe("a session in loops of the AI SDK", () => {
  it("streamText: one batch a response, results in source order", async () => {
    const stock = createStock({ apples: 3 });
    await using session = createToolSession({ tools: shopTools(stock) });
    const kernel = toAiSdk(session);
    const model = streamingModel();
    const result = streamText({
      model: kernel.model(model),
      prompt: PROMPT,
      tools: kernel.tools,
      prepareStep: kernel.prepareStep,
      stopWhen: [kernel.stopWhen, stepCountIs(5)],
    });
    await result.consumeStream();
    expect(await result.text).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(model.doStreamCalls[1]?.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call_1", output: { type: "json", value: 2 } },
        { toolCallId: "call_2", output: { type: "json", value: 1 } },
      ],
    });
  });

  it("generateText of version 5", async () => {
    const stock = createStock({ apples: 3 });
    await using session = createToolSession({ tools: shopTools(stock) });
    const kernel = toAiSdk(session);
    const { text } = await ai5.generateText({
      model: kernel.model(versionFiveModel()),
      prompt: PROMPT,
      // Version 5 names some parts of results by other types; they fit at run time.
      tools: kernel.tools as never,
      prepareStep: kernel.prepareStep,
      stopWhen: kernel.stopWhen,
    });
    expect(text).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
  });

  it("REP-5: a model that repeats one call is told, and ends", async () => {
    const repeat = (n: number) => ({
      content: [{ type: "tool-call", toolCallId: `call_${n}`, toolName: "look", input: "{}" }],
      finishReason: { unified: "tool-calls", raw: "tool_calls" },
      usage: USAGE_3,
      warnings: [],
    });
    const model = new MockLanguageModelV3({ doGenerate: Array.from({ length: 12 }, (_, n) => repeat(n)) as never });
    const look = tool({ description: "Looks.", inputSchema: z.object({}), execute: () => "nothing" });
    await using session = createToolSession({ tools: fromAiSdkTools({ look }, { look: { risk: "readOnly" } }) });
    const kernel = toAiSdk(session);
    const { generateText } = await import("ai");
    const { steps } = await generateText({
      model: kernel.model(model),
      prompt: PROMPT,
      tools: kernel.tools,
      prepareStep: kernel.prepareStep,
      stopWhen: kernel.stopWhen,
    });
    expect(steps).toHaveLength(8);
    const told = (step: number) => model.doGenerateCalls[step]?.prompt.filter(({ role }) => role === "user").length;
    expect([told(2), told(3), told(7)]).toEqual([1, 2, 2]);
  });
});

describe("messages and schemas of the AI SDK", () => {
  it("results pass the AI SDK's own validator of messages", async () => {
    const image = { type: "image" as const, mediaType: "image/png", data: "aW1n" };
    const answers: Readonly<Record<string, unknown>> = { text: "text", json: { rows: 3 }, none: undefined };
    const tools = fromAiSdkTools(
      Object.fromEntries(
        Object.entries(answers).map(([name, value]) => [
          name,
          { inputSchema: { type: "object" }, execute: () => value },
        ]),
      ),
    );
    await using session = createToolSession({ tools });
    const calls = [...Object.keys(answers), "unknown"].map((name) => ({ id: name, name, arguments: {} as JsonObject }));
    const { messages } = await session.execute(calls).result;
    const withImage = messages.map((message) => ({ ...message, ...("callId" in message && { content: [image] }) }));
    for (const message of [...toAiSdkMessages({ messages }), ...toAiSdkMessages({ messages: withImage as never })]) {
      expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
    }
  });

  it("what generateText gives for tools without execute is a response", async () => {
    const { generateText } = await import("ai");
    const content = [{ type: "text", text: "I take two." }, ...callParts];
    const model = new MockLanguageModelV3({
      doGenerate: {
        content,
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage: USAGE_3,
        warnings: [],
      } as never,
    });
    const take = tool({ description: "Takes one.", inputSchema: z.object({ item: z.string() }) });
    const result = await generateText({ model, prompt: PROMPT, tools: { take } });
    const expected = { calls: CALLS, stopReason: "toolUse" };
    expect(callsFromAiSdk(result)).toEqual(expected);
    expect(callsFromAiSdk(result.response.messages[0] ?? {})).toEqual(expected);
  });

  it.each([
    ["Zod 4", z.object({ cents: z.number().int() })],
    ["Zod 3", z3.object({ cents: z3.number().int() })],
    ["Zod 4 within version 3.25", z34.object({ cents: z34.number().int() })],
  ])("a tool of %s is shown to the model and validates", async (_, inputSchema) => {
    const tools = fromAiSdkTools({ pay: { inputSchema, execute: () => "paid" } });
    await using session = createToolSession({ tools });
    const calls = [5, 5.5].map((cents) => ({ id: `${cents}`, name: "pay", arguments: { cents } }));
    const { settled } = await session.execute(calls).result;
    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded", "refused"]);
  });
});
