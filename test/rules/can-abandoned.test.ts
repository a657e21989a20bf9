import { createLanes, type SessionHooks } from "toolkernel";
import { assertOrder, controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { BEFORE_DISPATCH, keyed, openMixed } from "../support/can-scene.ts";
import { keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf, recordingTool, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

describe("CAN-2: an abandoned executor", () => {
  async function abandon(keys: string | null = "k") {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("write", keys, "lost")], { signal });
    abort();
    await bench.advance(1_000);
    const result = await running.result;
    return { bench, running, result, lost: runningCall(bench.write, 0) };
  }

  it.each(["resolve", "reject"] as const)("changes no result and crashes nothing by a late %s", async (how) => {
    const { bench, running, result, lost } = await abandon();
    const before = structuredClone({ messages: result.messages, outcomes: outcomesOf(result), log: running.log() });
    lost.progress("late");
    if (how === "resolve") lost.resolve("late");
    else lost.reject(new Error("late"));
    await bench.advance();
    expect({ messages: result.messages, outcomes: outcomesOf(result), log: running.log() }).toEqual(before);
  });

  it("frees its keys by returning, and that is told to the batch that runs then", async () => {
    const { bench, lost } = await abandon();
    const next = await bench.start([keyed("write", "k", "next")]);
    lost.resolve("late");
    await bench.advance();
    const late = next.events.find((event) => event.kind === "toolLateSettled");
    expect(late).toMatchObject({ callId: "lost", turn: 1, returned: true, toolName: "write", callIndex: 0, epoch: 0 });
    expect(runningIn(next.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await next.result;
  });

  it("is told to telemetry when no batch runs, once, and without what it answered", async () => {
    const records: string[] = [];
    const bench = openMixed({ telemetry: { record: (record) => void records.push(JSON.stringify(record)) } });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("write", "k", "lost")], { signal });
    abort();
    await bench.advance(1_000);
    await running.result;
    runningCall(bench.write, 0).reject(new Error("secret"));
    await bench.advance();
    const late = records.filter((record) => record.includes("kernel.toollatesettled"));
    expect(late).toHaveLength(1);
    expect(late.join()).not.toContain("secret");
  });

  it("cannot throw the host off after the session is closed", async () => {
    const { bench, lost } = await abandon();
    await bench.session.close();
    lost.reject(new Error("late"));
    await bench.advance();
    await expect(bench.session.close()).resolves.toBeUndefined();
  });

  it("that never ends leaves nothing behind but its key's hold", async () => {
    const { bench } = await abandon();
    expect(bench.pendingTimers()).toBe(0);
  });
});

describe("CAN-3: time-outs", () => {
  it("run from dispatch, not from queueing", async () => {
    const tool = keyedTool({ name: "tool", risk: "readOnly", timeoutMs: 100 });
    const bench = openBench({ tools: [tool] });
    const running = await bench.start([keyed("tool", "k", "a"), keyed("tool", "k", "b")]);
    await bench.advance(90);
    runningCall(tool, 0).resolve();
    await bench.advance(99);
    expect(runningCall(tool, 1).signal.aborted).toBe(false);
    await bench.advance(1);
    const { signal } = runningCall(tool, 1);
    expect([signal.aborted, (signal.reason as DOMException).name]).toEqual([true, "TimeoutError"]);
    runningCall(tool, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
  });

  it("default to limits.toolTimeoutMs, 120,000 when the host says nothing; the tool's own wins", async () => {
    const cases = [
      [undefined, undefined, 120_000],
      [5_000, undefined, 5_000],
      [5_000, 200_000, 200_000],
      [undefined, 1, 1],
    ] as const;
    for (const [toolTimeoutMs, timeoutMs, expected] of cases) {
      const tool = controllableTool({ name: "tool", risk: "readOnly", timeoutMs });
      const bench = openBench({ tools: [tool], limits: { toolTimeoutMs } });
      const running = await bench.start([call("tool")]);
      await bench.advance(expected - 1);
      expect([expected, runningCall(tool, 0).signal.aborted]).toEqual([expected, false]);
      await bench.advance(1);
      expect([expected, runningCall(tool, 0).signal.aborted]).toEqual([expected, true]);
      runningCall(tool, 0).resolve();
      await running.result;
    }
  });

  it("abort their own call alone", async () => {
    const quick = controllableTool({ name: "quick", risk: "readOnly", timeoutMs: 100 });
    const slow = controllableTool({ name: "slow", risk: "readOnly" });
    const bench = openBench({ tools: [quick, slow] });
    const running = await bench.start([call("quick"), call("slow")]);
    await bench.advance(1_100);
    expect(runningIn(running.events)).toEqual(["slow"]);
    expect(runningCall(slow, 0 + 1).signal.aborted).toBe(false);
    runningCall(slow, 1).resolve();
    expect(verdictsOf(await running.result)).toEqual(["failed:timeout", "succeeded"]);
  });

  it("are gone with the call: no timer is left when it ends in time", async () => {
    const bench = openMixed();
    const running = await bench.start([keyed("write", "k", "w")]);
    expect(bench.pendingTimers()).toBe(1);
    runningCall(bench.write, 0).resolve();
    await running.result;
    expect(bench.pendingTimers()).toBe(0);
  });
});

describe("CAN-1, CAN-4: close", () => {
  it("of an idle session ends at once, and is the same promise for all who call it", async () => {
    const bench = openMixed();
    const closing = bench.session.close();
    expect(bench.session.close()).toBe(closing);
    await closing;
    expect(() => bench.session.execute([])).toThrowError(expect.objectContaining({ code: "INVALID_OPTIONS" }));
  });

  it("waits until every call has its result: cancelled, in its grace, abandoned", async () => {
    const bench = openMixed();
    const running = await bench.start([keyed("read", "a", "r"), keyed("write", "b", "w")]);
    const queued = bench.session.execute([keyed("read", "c", "q")]);
    let isClosed = false;
    const closing = bench.session.close().then(() => {
      isClosed = true;
    });
    await bench.advance(999);
    expect(isClosed).toBe(false);
    await bench.advance(1);
    await closing;
    expect([outcomesOf(await running.result), outcomesOf(await queued.result)]).toEqual([
      ["cancelled", "cancelled"],
      ["cancelled"],
    ]);
    expect(textsOf(await queued.result)).toEqual([`${BEFORE_DISPATCH} Reason: the session was closed`]);
  });

  it("before the batch has begun cancels it before dispatch", async () => {
    const bench = openMixed();
    const batch = bench.session.execute([keyed("read", "a", "r")]);
    await bench.session.close();
    expect(outcomesOf(await batch.result)).toEqual(["cancelled"]);
  });

  it("while approvals are open ends the batch that waits for them", async () => {
    const bench = openMixed({ hooks: { authorizeToolCall: () => ({ ask: { why: "sure?" } }) } });
    const running = await bench.start([keyed("write", "a", "w")]);
    expect((await running.result).approvals).toHaveLength(1);
    await bench.session.close();
  });

  it("while a hold is waited for ends the waiting", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const lost = await bench.start([keyed("write", "k", "lost")], { signal });
    abort();
    await bench.advance(1_000);
    await lost.result;
    const running = await bench.start([keyed("write", "k", "next")]);
    await bench.session.close();
    expect(outcomesOf(await running.result)).toEqual(["cancelled"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("by await using closes too", async () => {
    const bench = openMixed();
    let running: Awaited<ReturnType<typeof bench.start>> | undefined;
    {
      await using session = bench.session;
      running = await bench.start([keyed("read", "a", "r")]);
      queueMicrotask(() => bench.read.pending[0]?.resolve());
      expect(session.runId).toBe("run");
    }
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it("of one of two sessions on one clock and the same lanes leaves the other alone", async () => {
    const lanes = createLanes();
    const one = openMixed({ lanes });
    const two = openMixed({ lanes });
    const first = await one.start([keyed("read", "k", "a")]);
    const second = await two.start([keyed("read", "k", "b"), keyed("read", "x", "c")]);
    const closing = one.session.close();
    runningCall(one.read, 0).resolve();
    await closing;
    await first.result;
    await two.advance();
    expect(runningIn(second.events)).toEqual(["c", "b"]);
    for (const place of [0, 1]) runningCall(two.read, place).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded", "succeeded"]);
  });
});

describe("CAN-2: an executor that ends when its call was given up and has no result yet", () => {
  /** Ends an executor while something of its call has still to answer; what is told, and whether in order. */
  async function endLate(more: { readonly hooks?: SessionHooks; readonly recover?: () => Promise<undefined> }) {
    const { hooks, ...ofTool } = more;
    const bench = openBench({ tools: [], ...(hooks !== undefined && { hooks }) });
    const ends: (() => void)[] = [];
    const execute = () => new Promise<void>((resolve) => ends.push(resolve));
    const { tool } = recordingTool({ name: "write", risk: "nonIdempotentWrite", timeoutMs: 10, ...ofTool });
    bench.session.setTools([{ ...tool, execute }]);
    const running = await bench.start([call("write")]);
    await bench.advance(10);
    await bench.advance(1_000);
    ends[0]?.();
    await bench.advance();
    return { bench, running };
  }

  it.each(["afterToolCall", "recover"] as const)("is told of behind its result, while %s is at work", async (who) => {
    let answer: () => void = () => undefined;
    const wait = () => new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
    const { bench, running } = await endLate(
      who === "recover" ? { recover: wait } : { hooks: { afterToolCall: wait } },
    );
    expect(running.events.map(({ kind }) => kind)).not.toContain("toolLateSettled");
    answer();
    await running.result;
    await bench.session.close();
    const told = running.events.map(({ kind }) => kind);
    expect(told.slice(-3)).toEqual(["toolEnded", "toolLateSettled", "epochSettled"]);
    expect(() => assertOrder(running.events)).not.toThrow();
  });
});
