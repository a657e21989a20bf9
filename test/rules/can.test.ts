import { createLanes, defineTool, ToolError } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

const BEFORE_DISPATCH = "not_executed: cancelled before dispatch. Nothing happened.";

function openMixed(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

describe("CAN-1: cancellation", () => {
  it("reaches every running executor through its signal at once, with the host's reason", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("read", "a", "a"), keyed("read", "b", "b")], { signal });
    const signals = [0, 1].map((place) => runningCall(bench.read, place).signal);
    const reason = { code: "user" };
    abort(reason);
    expect(signals.map(({ aborted, reason: given }) => [aborted, given === reason])).toEqual([
      [true, true],
      [true, true],
    ]);
    for (const place of [0, 1]) runningCall(bench.read, place).resolve();
    await running.result;
  });

  it("starts nothing more: queued calls settle as cancelled before dispatch, no later epoch starts, the current one settles", async () => {
    const bench = openMixed({ limits: { maxConcurrentTools: 1 } });
    const { signal, abort } = trackedSignal();
    const running = await bench.start(
      [
        keyed("read", "k", "running"),
        keyed("read", "k", "lane"),
        keyed("read", "x", "slot"),
        keyed("write", "y", "later"),
        keyed("read", "z", "last"),
      ],
      { signal },
    );
    abort();
    await bench.advance();
    expect(running.log()).toEqual([
      "epoch 0: running lane slot",
      "running starts",
      "lane ends cancelled",
      "slot ends cancelled",
    ]);
    runningCall(bench.read, 0).resolve("real");
    const result = await running.result;
    expect(running.log().slice(4)).toEqual([
      "running ends succeeded",
      "epoch 0 over",
      "later ends cancelled",
      "last ends cancelled",
    ]);
    expect(textsOf(result)).toEqual(["real", ...Array.from({ length: 4 }, () => BEFORE_DISPATCH)]);
    expect(result.messages).toHaveLength(5);
    expect(
      result.settled
        .slice(1)
        .map(({ outcome, result: { isError, failureCategory, outcomeUncertain } }) => [
          outcome,
          isError,
          failureCategory,
          outcomeUncertain,
        ]),
    ).toEqual(Array.from({ length: 4 }, () => ["cancelled", true, "cancelled", false]));
    expect(placesOf(bench.write)).toEqual([]);
  });

  it("a freed key or slot starts nobody any more while the epoch settles", async () => {
    const bench = openMixed({ limits: { maxConcurrentTools: 2 } });
    const { signal, abort } = trackedSignal();
    const calls = ["k", "x", "k", "x"].map((key, place) => keyed("read", key, `${key}${place}`));
    const running = await bench.start(calls, { signal });
    abort();
    runningCall(bench.read, 0).resolve();
    await bench.advance();
    runningCall(bench.read, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded", "cancelled", "cancelled"]);
    expect(running.log().filter((line) => line.endsWith("starts"))).toEqual(["k0 starts", "x1 starts"]);
  });

  it("in whichever phase it comes, every call has its one result and its message", async () => {
    for (let steps = 0; steps <= 24; steps += 1) {
      const bench = openMixed({ limits: { maxConcurrentTools: 2 } });
      const { signal, abort } = trackedSignal();
      const batch = bench.session.execute(
        [keyed("read", "a", "r1"), keyed("read", "a", "r2"), keyed("write", "b", "w"), keyed("read", "c", "r3")],
        { signal },
      );
      const ended: string[] = [];
      batch.subscribe((event) => {
        if (event.kind === "toolEnded") ended.push(event.callId);
      });
      for (let step = 0; step < steps; step += 1) {
        await Promise.resolve();
        if (step % 4 === 3) for (const tool of [bench.read, bench.write]) tool.pending[0]?.resolve();
      }
      abort();
      await bench.advance(1_000);
      const { messages, settled } = await batch.result;
      expect([steps, messages.length, settled.length]).toEqual([steps, 4, 4]);
      expect([steps, ...[...ended].sort()]).toEqual([steps, "r1", "r2", "r3", "w"]);
    }
  });

  it("by a signal that has fired already nothing is prepared or dispatched", async () => {
    const bench = openMixed();
    const running = await bench.start([keyed("read", "a", "a")], { signal: AbortSignal.abort("too late") });
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["cancelled"]);
    expect(textsOf(result)).toEqual([`${BEFORE_DISPATCH} Reason: too late`]);
    expect(running.events.map(({ kind }) => kind)).toEqual(["toolEnded"]);
  });

  it("ends with the batch: a signal that fires after it does nothing, and nobody listens to it any more", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const first = await bench.start([keyed("read", "a", "a")], { signal });
    runningCall(bench.read, 0).resolve();
    await first.result;
    const second = await bench.start([keyed("read", "a", "b")]);
    abort();
    await bench.advance(2_000);
    runningCall(bench.read, 0).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
  });

  it("of one batch leaves the batches that wait behind it alone", async () => {
    const bench = openMixed();
    const { signal, abort } = trackedSignal();
    const first = await bench.start([keyed("read", "a", "a")], { signal });
    const second = await bench.start([keyed("read", "a", "b")]);
    abort();
    await bench.advance(1_000);
    expect(outcomesOf(await first.result)).toEqual(["cancelled"]);
    runningCall(bench.read, 0).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
  });
});

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
    ["an error whose message is no text", Object.assign(new Error("x"), { message: 1 }), ""],
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
