import { defineTool, ToolError } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { BEFORE_DISPATCH, keyed, openMixed } from "../support/can-scene.ts";
import { openBench, runningCall } from "../support/execution-bench.ts";
import { call, outcomesOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

describe("CAN-1: cancellation from inside", () => {
  const reads = (...ids: readonly string[]) => ids.map((id) => keyed("read", id, id));

  it("an executor that aborts while it is called lets none of its epoch start after it", async () => {
    const { signal, abort } = trackedSignal();
    const started: string[] = [];
    const read = defineTool({
      name: "read",
      description: "Reads.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      execute: (_args, { callId }) => {
        started.push(callId);
        if (callId === "b") abort("enough");
        return callId;
      },
    });
    const bench = openBench({ tools: [read] });
    const running = await bench.start(reads("a", "b", "c", "d"), { signal });
    const result = await running.result;
    expect(started).toEqual(["a", "b"]);
    expect(outcomesOf(result)).toEqual(["succeeded", "succeeded", "cancelled", "cancelled"]);
    expect(textsOf(result).slice(2)).toEqual(Array.from({ length: 2 }, () => `${BEFORE_DISPATCH} Reason: enough`));
  });

  it.each([
    ["epochStarted", []],
    ["toolDispatched", ["a"]],
  ] as const)("a listener that aborts at the first %s lets nobody else start", async (kind, started) => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const batch = bench.session.execute(reads("a", "b", "c"), { signal });
    const dispatched: string[] = [];
    batch.subscribe((event) => {
      if (event.kind === "toolDispatched") dispatched.push(event.callId);
      if (event.kind === kind) abort();
    });
    await bench.advance(1_000);
    const result = await batch.result;
    expect(dispatched).toEqual(started);
    expect(outcomesOf(result)).toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  it("a listener that aborts when the last call of an epoch ends lets no later epoch start", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const batch = bench.session.execute([keyed("write", "a", "a"), keyed("write", "b", "b")], { signal });
    batch.subscribe((event) => {
      if (event.kind === "toolEnded" && event.callId === "a") abort();
    });
    await bench.advance();
    runningCall(bench.write, 0).resolve();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "cancelled"]);
  });

  it.each(["epochSettled", "toolProgressed", "toolLateSettled"] as const)(
    "a listener that aborts at %s is obeyed as well",
    async (kind) => {
      const bench = openMixed({ limits: { maxConcurrentTools: 1 } });
      const { signal, abort } = trackedSignal();
      const lost = await bench.start([keyed("write", "z", "lost")], { signal: AbortSignal.any([]) });
      await bench.advance(121_000);
      await lost.result;
      const batch = bench.session.execute(
        [keyed("write", "a", "a"), keyed("read", "b", "b"), keyed("read", "c", "c")],
        { signal },
      );
      batch.subscribe((event) => {
        if (event.kind === kind) abort();
      });
      await bench.advance();
      bench.write.pending[0]?.resolve();
      await bench.advance();
      runningCall(bench.write, 0).progress(1);
      runningCall(bench.write, 0).resolve();
      await bench.advance(1_000);
      expect(outcomesOf(await batch.result)).toEqual(["succeeded", "cancelled", "cancelled"]);
    },
  );

  it("closing the session from an executor settles every call and the queued batches too", async () => {
    const closed: Promise<void>[] = [];
    const read = defineTool({
      name: "read",
      description: "Reads.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      execute: () => {
        closed.push(bench.session.close());
        return "ok";
      },
    });
    const bench = openBench({ tools: [read] });
    const first = bench.session.execute(reads("a", "b"));
    const second = bench.session.execute(reads("c"));
    expect(outcomesOf(await first.result)).toEqual(["succeeded", "cancelled"]);
    expect(outcomesOf(await second.result)).toEqual(["cancelled"]);
    await Promise.all(closed);
  });
});

describe("CAN-2: the grace", () => {
  it.each(["timeout", "abort"] as const)("what comes within it after a signal by %s is the real result", async (by) => {
    for (const risk of ["readOnly", "nonIdempotentWrite"] as const) {
      const tool = controllableTool({ name: "tool", risk, timeoutMs: 100 });
      const bench = openBench({ tools: [tool] });
      const { signal, abort } = trackedSignal();
      const running = await bench.start([call("tool")], { signal });
      if (by === "timeout") await bench.advance(100);
      else abort();
      await bench.advance(999);
      runningCall(tool, 0).resolve("real");
      const result = await running.result;
      expect([verdictsOf(result), textsOf(result)]).toEqual([["succeeded"], ["real"]]);
    }
  });

  it("a ToolError within it is the real failure", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("write", "k", "w")], { signal });
    abort();
    await bench.advance(999);
    runningCall(bench.write, 0).reject(new ToolError("no such file", { failureCategory: "ruleRejected" }));
    expect(verdictsOf(await running.result)).toEqual(["failed:ruleRejected"]);
  });

  it("lasts limits.cancellationGraceMs from the signal: to the millisecond", async () => {
    const bench = openMixed({ limits: { cancellationGraceMs: 50 } });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("write", "k", "w")], { signal });
    await bench.advance(10);
    abort();
    await bench.advance(49);
    expect(running.log()).toHaveLength(2);
    await bench.advance(1);
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, (settled?.endedAtMs ?? 0) - (settled?.startedAtMs ?? 0)]).toEqual(["uncertain", 60]);
  });

  it.each([
    ["a write", "nonIdempotentWrite", "abort", "uncertain:cancelled"],
    ["a write", "nonIdempotentWrite", "timeout", "uncertain:timeout"],
    ["an idempotent write", "idempotentWrite", "abort", "uncertain:cancelled"],
    ["a read", "readOnly", "abort", "cancelled:cancelled"],
    ["a read", "readOnly", "timeout", "failed:timeout"],
  ] as const)("%s (%s) that is abandoned after a signal by %s is %s", async (_what, risk, by, expected) => {
    const tool = controllableTool({ name: "tool", risk, timeoutMs: 100 });
    const bench = openBench({ tools: [tool] });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([call("tool")], { signal });
    if (by === "abort") abort();
    await bench.advance(1_100);
    expect(verdictsOf(await running.result)).toEqual([expected]);
  });

  it("is one: a cancellation during the grace of a time-out starts no new one and changes no category", async () => {
    const tool = controllableTool({ name: "tool", timeoutMs: 100 });
    const bench = openBench({ tools: [tool] });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([call("tool")], { signal });
    await bench.advance(600);
    abort();
    await bench.advance(499);
    expect(running.log()).toHaveLength(2);
    await bench.advance(1);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:timeout"]);
  });

  it("the host's reason is told for a call that was cancelled while it ran", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("read", "a", "r")], { signal });
    abort(new Error("shutting down"));
    await bench.advance(1_000);
    expect(textsOf(await running.result)).toEqual(["The call was cancelled while it ran. Reason: shutting down"]);
  });

  const trap = (): never => {
    throw new Error("trap");
  };
  it.each([
    ["an AbortError of the platform", undefined, ""],
    ["null", null, ""],
    ["an empty text", "", ""],
    ["an object", { secret: 1 }, ""],
    ["a proxy that throws", new Proxy({}, { getPrototypeOf: trap, get: trap }), ""],
    ["an error whose message is not a string", Object.assign(new Error("x"), { message: 1 }), ""],
    ["a long text", "x".repeat(1_000), ` Reason: ${"x".repeat(256)}`],
  ])("a reason that is %s is no trouble", async (_what, reason, told) => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("read", "a", "a"), keyed("write", "b", "b")], { signal });
    abort(reason);
    await bench.advance(1_000);
    expect(textsOf(await running.result)).toEqual([
      `The call was cancelled while it ran.${told}`,
      `${BEFORE_DISPATCH}${told}`,
    ]);
  });
});
