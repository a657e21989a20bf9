import { OutcomeUnknownError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf, textsOf } from "../support/run-calls.ts";
import { endAll, keyed, openOrdered, openParallel } from "../support/unc-blocking-scene.ts";

describe("UNC-2: an uncertain write with a key", () => {
  it("blocks later writes that share a key and later writes without one, and no others", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "k", "same"),
      keyed("write", ["other", "k"], "shares"),
      keyed("write", null, "keyless"),
      keyed("write", "other", "apart"),
      keyed("write", ["x", "y"], "apart2"),
      keyed("read", "k", "read"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual([
      "uncertain",
      "blocked",
      "blocked",
      "blocked",
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });

  it("with several keys blocks by each of them", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", ["a", "b"], "lost"),
      keyed("write", "b", "b"),
      keyed("write", ["c", "a"], "ca"),
      keyed("write", "c", "c"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "blocked", "succeeded"]);
  });

  it("blocks by the key alone, whichever tool the later write is of", async () => {
    const bench = openOrdered();
    const other = keyedTool({ name: "other", risk: "idempotentWrite" });
    bench.session.setTools([bench.write, other]);
    const running = await bench.start([keyed("write", "k", "lost"), keyed("other", "k", "b")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked"]);
  });

  it("keys are compared exactly", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "K", "upper"),
      keyed("write", "k ", "space"),
      keyed("write", "é", "composed"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "succeeded", "succeeded"]);
  });
});

describe("UNC-3: an uncertain write without a key", () => {
  it("blocks every later write of the batch, and no read", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "k", "keyed"),
      keyed("read", "k", "read"),
      keyed("write", null, "keyless"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded", "blocked"]);
  });
});

describe("UNC-1: a read", () => {
  it("that loses its outcome blocks nobody", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("read", "k", "lost"),
      keyed("write", "k", "w"),
      keyed("write", null, "u"),
    ]);
    runningCall(bench.read, 0).reject(new OutcomeUnknownError("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["failed", "succeeded", "succeeded"]);
  });
});

describe("UNC-4: later means not yet dispatched", () => {
  it("calls that run already finish normally, sharing keys or not", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "a", "a"),
      keyed("write", null, "keyless"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    for (const place of [1, 2]) runningCall(bench.write, place).resolve("real");
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["uncertain", "succeeded", "succeeded"]);
    expect(textsOf(result).slice(1)).toEqual(["real", "real"]);
  });

  it("source order does not matter: an earlier call that has not been dispatched is later", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("read", "k", "r"),
      keyed("write", "k", "first"),
      keyed("write", null, "lost"),
    ]);
    expect(runningIn(running.events)).toEqual(["r", "lost"]);
    runningCall(bench.write, 2).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "blocked", "uncertain"]);
  });

  it("a call that was only waiting for a slot is not dispatched: it is blocked", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 1 } });
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "a", "a"),
      keyed("read", "b", "b"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["b"]);
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded"]);
  });
});
