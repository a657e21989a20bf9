import { describe, expect, it } from "vitest";
import {
  ABANDONED_MS,
  abandonWrite,
  HOLD_OVER_MS,
  keyed,
  openHoldBench,
  TIMEOUT_MS,
} from "../support/epoch-holds-scene.ts";
import { runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";

describe("EPOCH-8: an abandoned write", () => {
  it("keeps its key against later writes until abandonAfterMs after its signal fired, and not a millisecond longer", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("write", "k", "next")]);
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await running.result;
  });

  it("keeps it for as long as limits.abandonAfterMs says", async () => {
    const bench = openHoldBench({ limits: { abandonAfterMs: 5_000 } });
    await abandonWrite(bench, "k");
    const running = await bench.start([keyed("write", "k", "next")]);
    await bench.advance(TIMEOUT_MS + 5_000 - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    runningCall(bench.write, 0).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it.each(["returns", "throws"] as const)(
    "frees its key as soon as its executor %s, which is reported",
    async (how) => {
      const bench = openHoldBench();
      await abandonWrite(bench, "k");
      const running = await bench.start([keyed("write", "k", "next")]);
      const [lost] = bench.write.pending;
      if (how === "returns") lost?.resolve("late");
      else lost?.reject(new Error("late"));
      await bench.advance();
      expect(running.log()).toEqual(["epoch 0: next", `lost ${how} late`, "next starts"]);
      runningCall(bench.write, 0).resolve();
      await running.result;
    },
  );

  it("that has ended before a later batch holds nothing", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    bench.write.pending[0]?.resolve();
    await bench.advance();
    const running = await bench.start([keyed("write", "k", "next")]);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await running.result;
  });

  it("holds back nobody of another key, and no read of its own key", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    const running = await bench.start([
      keyed("write", "other", "other"),
      keyed("write", null, "keyless"),
      keyed("read", "k", "read"),
    ]);
    expect(runningIn(running.events)).toEqual(["other", "keyless", "read"]);
    for (const place of [0, 1]) runningCall(bench.write, place).resolve();
    runningCall(bench.read, 2).resolve();
    await running.result;
  });

  it("holds every one of its keys", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, ["a", "b"]);
    const running = await bench.start([
      keyed("write", "a", "a"),
      keyed("write", ["b", "c"], "bc"),
      keyed("write", "d", "d"),
    ]);
    expect(runningIn(running.events)).toEqual(["d"]);
    runningCall(bench.write, 2).resolve();
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS);
    expect(runningIn(running.events)).toEqual(["a", "bc"]);
    for (const place of [0, 1]) runningCall(bench.write, place).resolve();
    await running.result;
  });

  it("without a key holds back every later write, keyed or not, and no read", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, null);
    const running = await bench.start([
      keyed("write", "k", "keyed"),
      keyed("write", null, "keyless"),
      keyed("read", "k2", "read"),
    ]);
    expect(runningIn(running.events)).toEqual(["read"]);
    runningCall(bench.read, 2).resolve();
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["keyed", "keyless"]);
    for (const place of [0, 1]) runningCall(bench.write, place).resolve();
    await running.result;
  });

  it("without a key frees all when its executor returns; of several the last one does", async () => {
    const bench = openHoldBench({ toolExecution: "parallel" });
    const lost = await bench.start([keyed("write", null, "lost1"), keyed("write", null, "lost2")]);
    await bench.advance(ABANDONED_MS);
    await lost.result;
    const running = await bench.start([keyed("write", "k", "next")]);
    bench.write.pending[0]?.resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual([]);
    bench.write.pending[0]?.resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await running.result;
  });

  it("holds together with a keyed one until the later of both is over", async () => {
    const bench = openHoldBench();
    await abandonWrite(bench, "k");
    await bench.advance(10_000);
    await abandonWrite(bench, null);
    const running = await bench.start([keyed("write", "k", "next")]);
    // The second signal fired 11,100 ms after the first.
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    runningCall(bench.write, 0).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it("in its own batch UNC-5 comes first: later writes of its key are blocked at once and wait for nothing", async () => {
    const bench = openHoldBench();
    const running = await bench.start([keyed("write", "k", "lost"), keyed("write", "k", "next")]);
    await bench.advance(ABANDONED_MS);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked"]);
  });

  it("that is resolved in its own batch blocks nobody any more but keeps its key all the same", async () => {
    const bench = openHoldBench({ toolExecution: "sequential" });
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("read", "x", "read"),
      keyed("write", "k", "next"),
    ]);
    await bench.advance(ABANDONED_MS);
    await bench.session.resolveUncertain("lost", { status: "failed" });
    runningCall(bench.read, 1).resolve();
    await bench.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(running.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(running.events)).toEqual(["next"]);
    runningCall(bench.write, 2).resolve();
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "succeeded"]);
  });

  it("holds no slot", async () => {
    const bench = openHoldBench({ limits: { maxConcurrentTools: 1 } });
    const running = await bench.start([keyed("write", "k", "lost"), keyed("write", "other", "other")]);
    await bench.advance(ABANDONED_MS);
    expect(runningIn(running.events)).toEqual(["other"]);
    runningCall(bench.write, 1).resolve();
    await running.result;
  });
});
