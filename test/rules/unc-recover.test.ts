import { type AnyTool, defineTool, type JsonObject, type ToolContext, ToolError, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { call, eventsOf, textsOf, verdictsOf } from "../support/run-calls.ts";

type Execute = (args: JsonObject, context: ToolContext) => unknown;

/** A write that times out after 100 ms. */
function writeOf(execute: Execute, options: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name: "tool",
    description: "Does what the test says.",
    inputSchema: { type: "object" } as JsonObject,
    timeoutMs: 100,
    ...(options as object),
    execute,
  }) as AnyTool;
}

const trap = (): never => {
  throw new Error("trap");
};

/** Spelt apart, since a literal of that name is taken for a slip. */
const THEN = "then";

async function play(execute: Execute, options: Partial<AnyTool> = {}) {
  const bench = openBench({ tools: [writeOf(execute, options)] });
  const running = await bench.start([call("tool", {}, "t")]);
  await bench.advance(5_000);
  const result = await running.result;
  return { verdict: verdictsOf(result).join(), texts: textsOf(result) };
}

describe("UNC-7: asking what became of a lost write", () => {
  type Recover = NonNullable<AnyTool["recover"]>;
  const lost = (recover: unknown): [Execute, Partial<AnyTool>] => [async () => trap(), { recover: recover as Recover }];

  it.each([
    ["it happened", () => toolResult({ value: "found it" }), "succeeded", "found it"],
    ["it happened, after a while", async () => toolResult({ value: "found it" }), "succeeded", "found it"],
    [
      "it did not happen",
      () => toolResult({ content: "nothing there", isError: true }),
      "failed:unspecified",
      "nothing there",
    ],
    [
      "it did not happen, with a category",
      () => toolResult({ content: "gone", isError: true, failureCategory: "conflict" }),
      "failed:conflict",
      "gone",
    ],
  ])("an executor that has thrown, and %s", async (_what, recover, verdict, text) => {
    expect(await play(...lost(recover))).toMatchObject({ verdict, texts: [text] });
  });

  it.each([
    ["throws", trap],
    ["misspells a field, which may be the one that says so", () => toolResult({ value: "x", isEror: true } as object)],
    [
      "throws a ToolError",
      () => {
        throw new ToolError("no");
      },
    ],
    ["rejects", async () => trap()],
    ["answers undefined", () => undefined],
    ["answers null", () => null],
    ["answers a plain value", () => "it happened"],
    ["answers an object in the shape of MCP", () => ({ content: [{ type: "text", text: "ok" }] })],
    ["answers that it does not know either", () => toolResult({ value: 1, outcomeUncertain: true })],
    [
      "answers a proxy that throws",
      () => new Proxy({}, { get: (_target, name) => (name === THEN ? undefined : trap()) }),
    ],
    ["answers a thenable that throws", () => ({ [THEN]: trap })],
    ["answers never", () => new Promise(() => undefined)],
  ])("one that %s leaves the write uncertain", async (_what, recover) => {
    expect((await play(...lost(recover))).verdict).toBe("uncertain:internal");
  });

  it("is done once, with the call's own arguments and context, and a signal of its own", async () => {
    const asked: unknown[][] = [];
    const bench = openBench({
      tools: [
        writeOf(async () => trap(), {
          conflictKey: () => "k",
          recover: (...given: unknown[]) => void asked.push(given),
        } as Partial<AnyTool>),
      ],
      host: { name: "host" },
    });
    const running = await bench.start([call("tool", { a: 1 }, "t")]);
    const result = await running.result;
    expect(asked).toHaveLength(1);
    const [args, context] = asked[0] as [JsonObject, ToolContext];
    expect(args).toEqual({ a: 1 });
    expect({ ...context, signal: context.signal.aborted, progress: typeof context.progress }).toEqual({
      runId: "run",
      turn: 1,
      callId: "t",
      callIndex: 0,
      conflictKeys: ["k"],
      operationId: result.settled[0]?.operationId,
      signal: false,
      host: { name: "host" },
      progress: "function",
    });
    context.progress("late");
    expect(eventsOf(running.events, "toolProgressed")).toEqual([]);
  });

  it("is not done for what is certain, nor for a read", async () => {
    let asked = 0;
    const recover = () => {
      asked += 1;
      return toolResult({ value: 1 });
    };
    const options = { recover: recover as Recover };
    expect((await play(() => "ok", options)).verdict).toBe("succeeded");
    expect(
      (
        await play(() => {
          throw new ToolError("no");
        }, options)
      ).verdict,
    ).toBe("failed:unspecified");
    expect((await play(trap, { ...options, throwMeans: "failed" })).verdict).toBe("failed:unspecified");
    expect((await play(trap, { ...options, risk: "readOnly" })).verdict).toBe("failed:unspecified");
    expect((await play(() => new Promise(() => undefined), { ...options, risk: "readOnly" })).verdict).toBe(
      "failed:timeout",
    );
    expect(asked).toBe(0);
  });

  it("is bounded by the tool's own time-out, which fires its signal", async () => {
    let signal: AbortSignal | undefined;
    const recover = (_args: unknown, context: ToolContext) => {
      ({ signal } = context);
      return new Promise(() => undefined);
    };
    const bench = openBench({ tools: [writeOf(...lost(recover))] });
    const running = await bench.start([call("tool", {}, "t")]);
    await bench.advance(99);
    expect([running.log(), signal?.aborted]).toEqual([["epoch 0: t", "t starts"], false]);
    await bench.advance(1);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:internal"]);
    expect(signal?.aborted).toBe(true);
  });
});
