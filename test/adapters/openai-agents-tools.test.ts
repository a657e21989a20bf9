import { createToolSession } from "toolkernel";
import { fromOpenAIAgentsTools } from "toolkernel/openai";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { runOne } from "./wires/run-one.ts";

const OPEN = { type: "object" };

/** A function tool as the SDK's `tool()` gives one. */
function foreign(name: string, invoke: (...given: never[]) => unknown, more: object = {}) {
  return { type: "function", name, description: `Does ${name}`, parameters: OPEN, ...more, invoke };
}

describe("fromOpenAIAgentsTools", () => {
  it("function tools come in order, hosted tools are left out", () => {
    const tools = [foreign("read", () => ""), { type: "hosted_tool", name: "web_search" }, foreign("write", () => "")];
    expect(fromOpenAIAgentsTools(tools, { read: { risk: "readOnly" } })).toMatchObject([
      { name: "read", description: "Does read", inputSchema: OPEN, risk: "readOnly", origin: "imported" },
      { name: "write", description: "Does write", inputSchema: OPEN, origin: "imported" },
    ]);
  });

  it.each([
    ["of another kind", [{ type: "computer", name: "computer" }], {}],
    ["with guardrails", [foreign("read", () => "", { inputGuardrails: [{}] })], {}],
    ["that a policy names, but nobody gave", [foreign("read", () => "")], { reed: {} }],
  ])("a tool %s is refused", (_, tools, policies) => {
    const error = expect.objectContaining({ code: "INVALID_OPTIONS" });
    expect(() => fromOpenAIAgentsTools(tools, policies)).toThrow(error);
  });

  it("invoke gets a run context, the input as text, the call and the signal", async () => {
    const seen: unknown[] = [];
    const tools = fromOpenAIAgentsTools([foreign("read", (...given) => void seen.push(...given))]);
    await runOne(tools, "read", { path: "a" }, { host: { user: "ada" } });
    expect(seen).toEqual([
      { context: { user: "ada" } },
      '{"path":"a"}',
      {
        toolCall: { type: "function_call", callId: "call_1", name: "read", arguments: '{"path":"a"}' },
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it("a RunContext that the host gives is the run context", async () => {
    const seen: unknown[] = [];
    const tools = fromOpenAIAgentsTools([foreign("read", (context) => void seen.push(context))]);
    const host = { context: { user: "ada" }, usage: { requests: 0 } };
    await runOne(tools, "read", {}, { host });
    expect(seen).toEqual([host]);
  });

  it("the SDK's own outputs become parts; any other value is recorded as it is", async () => {
    const outputs = [
      { type: "text", text: "see" },
      { type: "image", image: "data:image/png;base64,aW1n" },
      { type: "image", image: { data: new Uint8Array([1, 2]), mediaType: "image/gif" } },
      { type: "image", image: { fileId: "file_1" } },
      { type: "file", file: { data: "cGRm", mediaType: "application/pdf", filename: "a.pdf" } },
      { type: "file", file: { url: "https://example.org/a.csv" } },
    ];
    const look = fromOpenAIAgentsTools([foreign("look", () => outputs)]);
    expect((await runOne(look, "look", {})).result.content).toEqual([
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", data: "aW1n" },
      { type: "image", mediaType: "image/gif", data: "AQI=" },
      { type: "json", value: { type: "image", image: { fileId: "file_1" } } },
      { type: "file", mediaType: "application/pdf", data: "cGRm", name: "a.pdf" },
      { type: "resource", uri: "https://example.org/a.csv" },
    ]);
    const plain = fromOpenAIAgentsTools([foreign("plain", () => [{ type: "row" }, 1])]);
    expect((await runOne(plain, "plain", {})).result.content).toEqual([{ type: "json", value: [{ type: "row" }, 1] }]);
  });

  it("UNC-1: the SDK's text in place of a throw is the throw; an errorFunction's own text is an answer", async () => {
    const swallowed = () => "An error occurred while running the tool. Please try again.";
    const write = await runOne(fromOpenAIAgentsTools([foreign("pay", swallowed)]), "pay", {});
    expect(write.outcome).toBe("uncertain");
    expect(JSON.stringify(write.result.content)).not.toContain("try again");
    const read = fromOpenAIAgentsTools([foreign("pay", swallowed)], { pay: { risk: "readOnly" } });
    expect(await runOne(read, "pay", {})).toMatchObject({ outcome: "failed" });
    const own = fromOpenAIAgentsTools([foreign("pay", () => "No funds; nothing was paid.")]);
    expect(await runOne(own, "pay", {})).toMatchObject({ outcome: "succeeded" });
  });
});

describe("fromOpenAIAgentsTools: time-out", () => {
  const TEXT = "Tool 'pay' timed out after 5000ms.";

  it.each([
    ["tells it as a result", () => TEXT],
    ["throws it", () => Promise.reject(new Error(TEXT))],
  ])("CAN-3: when the SDK %s, the call goes on until the kernel's time is over", async (_, invoke) => {
    const time = simulatedClock();
    const tools = fromOpenAIAgentsTools([foreign("pay", invoke, { timeoutMs: 5_000 })]);
    await using session = createToolSession({ tools, clock: time.clock });
    const batch = session.execute([{ id: "call_1", name: "pay", arguments: {} }]);
    for await (const event of batch) {
      if (event.kind === "toolDispatched") {
        break;
      }
    }
    await time.advance(5_000);
    await time.advance(1_000);
    const { settled } = await batch.result;
    expect(settled).toMatchObject([{ outcome: "uncertain", result: { failureCategory: "timeout" } }]);
  });

  it.each([
    [1_000, 1_000],
    [9_000, 5_000],
    [undefined, 5_000],
  ])("a policy of %j ms makes it %j ms: it can only be shortened", (policy, timeoutMs) => {
    const policies = policy === undefined ? {} : { pay: { timeoutMs: policy } };
    const tools = fromOpenAIAgentsTools([foreign("pay", () => "", { timeoutMs: 5_000 })], policies);
    expect(tools[0]?.timeoutMs).toBe(timeoutMs);
  });

  it("a time-out of its own that is no whole number of ms is as long, and no refusal", () => {
    const tools = fromOpenAIAgentsTools([foreign("pay", () => "", { timeoutMs: 1.5 })]);
    expect(tools[0]?.timeoutMs).toBe(2);
    expect(() => createToolSession({ tools })).not.toThrow();
  });
});

describe("fromOpenAIAgentsTools: approval", () => {
  async function asks(needsApproval: unknown): Promise<readonly object[] | undefined> {
    const tools = fromOpenAIAgentsTools([foreign("pay", () => "paid", { needsApproval })]);
    await using session = createToolSession({ tools });
    const response = [{ id: "call_1", name: "pay", arguments: { cents: 500 } }];
    const { approvals } = await session.execute(response).result;
    if (approvals !== undefined) {
      await session.execute(response, { blockOthers: true, turn: 1 }).result;
    }
    return approvals?.map(({ ask }) => ask);
  }

  const ASK = { reason: "The tool itself asks for approval.", framework: "openai-agents", tool: "pay" };

  it("APP-1: a tool that needs approval asks, told the run context and the arguments", async () => {
    expect(await asks((_: unknown, input: { cents: number }) => input.cents > 100)).toEqual([ASK]);
    expect(await asks((_: unknown, input: { cents: number }) => input.cents > 1_000)).toBeUndefined();
    expect(await asks(true)).toEqual([ASK]);
    expect(await asks(false)).toBeUndefined();
    expect(await asks(undefined)).toBeUndefined();
  });

  it("APP-1: an answer that comes later is waited for, and one that fails counts as yes", async () => {
    expect(await asks(async () => true)).toEqual([ASK]);
    expect(await asks(async () => false)).toBeUndefined();
    expect(await asks(() => Promise.reject(new Error("no answer")))).toEqual([ASK]);
  });
});
