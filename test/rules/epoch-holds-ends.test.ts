import { toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  ABANDONED_MS,
  abandonWrite,
  HOLD_OVER_MS,
  keyed,
  openHoldBench,
  TIMEOUT_MS,
} from "../support/epoch-holds-scene.ts";
import { keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

describe("EPOCH-8: an abandoned write", () => {
  it("leaves no timer behind, neither after its own batch nor after one that has read the hold", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    expect(bench.pendingTimers()).toBe(0);
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("write", "k", "next")], { signal });
    expect(bench.pendingTimers()).toBe(1);
    abort("enough");
    expect(outcomesOf(await running.result)).toEqual(["cancelled"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("sets no timer for a later batch that does not need its keys", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("read", "k", "read")]);
    // The one timer is the time-out of the read.
    expect(bench.pendingTimers()).toBe(1);
    runningCall(bench.read, 0).resolve();
    await running.result;
    expect(bench.pendingTimers()).toBe(0);
  });

  it("is passed by reads, which keep their place behind the writes before them", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("read", "k", "r1"), keyed("write", "k", "w"), keyed("read", "k", "r2")]);
    expect(runningIn(running.events)).toEqual(["r1"]);
    runningCall(bench.read, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS);
    expect(runningIn(running.events)).toEqual(["w"]);
    runningCall(bench.write, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["r2"]);
    runningCall(bench.read, 2).resolve();
    await running.result;
  });

  it("does not end before a read that has passed it: the write behind both waits for both", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("read", "k", "r"), keyed("write", "k", "w")]);
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS);
    expect(runningIn(running.events)).toEqual(["r"]);
    runningCall(bench.read, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["w"]);
    runningCall(bench.write, 1).resolve();
    await running.result;
  });

  it("whose executor has thrown holds nothing: it is certainly not alive", async () => {
    const bench = openHoldBench();
    const running = await bench.start([keyed("write", "k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await running.result)).toEqual(["uncertain"]);
    const next = await bench.start([keyed("write", "k", "next")]);
    expect(runningIn(next.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await next.result;
  });

  it("a read that is abandoned holds nothing", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly", timeoutMs: TIMEOUT_MS });
    const write = keyedTool({ name: "write" });
    const bench = openBench({ tools: [read, write] });
    const lost = await bench.start([keyed("read", "k", "lost")]);
    await bench.advance(ABANDONED_MS);
    expect(outcomesOf(await lost.result)).toEqual(["failed"]);
    const running = await bench.start([keyed("write", "k", "next")]);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(write, 0).resolve();
    await running.result;
  });

  it.each(["k", null])(
    "(of key %s) wakes who waits for its end even when another call ends in that very moment",
    async (keys) => {
      const write = keyedTool({ name: "write", executionMode: "parallel", timeoutMs: 100, trackExactRepeats: false });
      const read = keyedTool({ name: "read", risk: "readOnly", timeoutMs: 100, trackExactRepeats: false });
      const limits = { cancellationGraceMs: 100, abandonAfterMs: 1_000 };
      const bench = openBench({ tools: [write, read], limits });
      const lost = await bench.start([keyed("write", keys, "lost")]);
      await bench.advance(200);
      expect(outcomesOf(await lost.result)).toEqual(["uncertain"]);
      await bench.advance(700);
      // 900: the grace of `slow` will be over at 1,100, as the hold; it is set before the hold is minded again.
      const running = await bench.start([
        keyed("read", "r", "slow"),
        keyed("read", "q", "q"),
        keyed("write", "k", "w"),
      ]);
      await bench.advance(100);
      runningCall(read, 1).resolve();
      await bench.advance(99);
      expect(runningIn(running.events)).toEqual(["slow"]);
      await bench.advance(1);
      expect(runningIn(running.events)).toEqual(["w"]);
      runningCall(write, 2).resolve();
      expect(outcomesOf(await running.result)).toEqual(["failed", "succeeded", "succeeded"]);
    },
  );

  it("of a key does not prolong one without a key for writes of other keys", async () => {
    const early = keyedTool({ name: "early", executionMode: "parallel", timeoutMs: 50 });
    const write = keyedTool({ name: "write", executionMode: "parallel", timeoutMs: 100 });
    const bench = openBench({ tools: [early, write] });
    const lost = await bench.start([keyed("early", null, "lost1"), keyed("write", "k", "lost2")]);
    await bench.advance(1_100);
    expect(outcomesOf(await lost.result)).toEqual(["uncertain", "uncertain"]);
    const running = await bench.start([keyed("write", "k", "later"), keyed("write", "free", "free")]);
    await bench.advance(30_050 - 1_100 - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["free"]);
    runningCall(write, 1).resolve();
    await bench.advance(49);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["later"]);
    runningCall(write, 0).resolve();
    await running.result;
  });

  it("waits on hold once more when the first hold on its key is followed by another", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS);
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("write", "k", "next")]);
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await running.result;
  });
});

describe("EPOCH-8: an abandoned write that its tool says has happened", () => {
  /** Abandoned at 1,100, then said to have happened though its executor is still alive. */
  const openRecoveredBench = () => {
    const write = keyedTool({
      name: "write",
      executionMode: "parallel",
      timeoutMs: TIMEOUT_MS,
      trackExactRepeats: false,
      recover: () => toolResult({ value: "done" }),
    });
    const read = keyedTool({ name: "read", risk: "readOnly" });
    return { write, read, ...openBench({ tools: [write, read], limits: { maxConcurrentTools: 2 } }) };
  };

  it("is certain and blocks nobody, but keeps its key while it may still be alive", async () => {
    const bench = openRecoveredBench();
    const running = await bench.start([keyed("write", "k", "lost"), keyed("write", "k", "next")]);
    await bench.advance(HOLD_OVER_MS - 1);
    expect(running.log()).toEqual(["epoch 0: lost next", "lost starts", "lost ends succeeded"]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
  });

  it("frees its key for the rest of its epoch when its executor returns", async () => {
    const bench = openRecoveredBench();
    const running = await bench.start([keyed("write", "k", "lost"), keyed("write", "k", "next")]);
    await bench.advance(ABANDONED_MS);
    runningCall(bench.write, 0).resolve();
    await bench.advance();
    expect(running.log().slice(-2)).toEqual(["lost returns late", "next starts"]);
    runningCall(bench.write, 1).resolve();
    await running.result;
  });

  it("without a key also holds back the writes of its epoch that only waited for a slot", async () => {
    const bench = openRecoveredBench();
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("read", "r", "read"),
      keyed("write", "k", "ready"),
    ]);
    await bench.advance(HOLD_OVER_MS - 1);
    expect(running.log()).toEqual(["epoch 0: lost read ready", "lost starts", "read starts", "lost ends succeeded"]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["read", "ready"]);
    runningCall(bench.read, 1).resolve();
    runningCall(bench.write, 2).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});
