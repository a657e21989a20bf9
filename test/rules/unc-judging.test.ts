import { describe, expect, it } from "vitest";
import { keyedTool, runningCall, runningIn } from "../support/execution-bench.ts";
import { eventsOf, outcomesOf } from "../support/run-calls.ts";
import { endAll, keyed, openOrdered, openParallel } from "../support/unc-blocking-scene.ts";

describe("UNC-5: judging", () => {
  it("a blocked call settles at once, waits for nothing and names the blocking call", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", ["k", "busy"], "blocked"),
      keyed("read", "busy", "later"),
      keyed("read", "other", "slow"),
    ]);
    expect(running.news()).toEqual(["epoch 0: lost blocked later slow", "lost starts", "slow starts"]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    // It leaves its lanes: the read behind it goes on although nothing else has ended.
    expect(running.news()).toEqual([
      "lost ends uncertain",
      "blocked blocked by lost",
      "blocked ends blocked",
      "later starts",
    ]);
    await endAll(bench);
    const { settled } = await running.result;
    expect(settled[1]).toEqual({
      call: { id: "blocked", name: "write", arguments: { keys: ["k", "busy"] } },
      index: 1,
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      conflictKeys: ["k", "busy"],
      epoch: 0,
      outcome: "blocked",
      result: {
        content: [
          {
            type: "text",
            text: 'not_executed: the outcome of call "lost" ("write") is unknown and this call could touch the same thing. Find out what became of it first.',
          },
        ],
        isError: true,
        failureCategory: "conflict",
        outcomeUncertain: false,
        terminate: false,
      },
      endedAtMs: expect.any(Number),
    });
  });

  it("a call of a later epoch is judged when its epoch starts", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("read", "r", "read"),
      keyed("write", "k", "w"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(running.news().slice(-2)).toEqual(["epoch 1: read", "read starts"]);
    await endAll(bench);
    await running.result;
    expect(running.news()).toEqual([
      "read ends succeeded",
      "epoch 1 over",
      "epoch 2: w",
      "w blocked by lost",
      "w ends blocked",
      "epoch 2 over",
    ]);
  });

  it("is not itself uncertain: it blocks nobody and holds nothing", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", ["k", "m"], "blocked"),
      keyed("write", "m", "free"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["uncertain", "blocked", "succeeded"]);
    expect(result.settled[1]?.startedAtMs).toBeUndefined();
  });

  it("names the first of several that block", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", "a", "lost-a"),
      keyed("write", "b", "lost-b"),
      keyed("write", ["b", "a"], "ba"),
    ]);
    runningCall(bench.write, 1).reject(new Error("lost"));
    await bench.advance();
    runningCall(bench.write, 0).reject(new Error("lost"));
    const result = await running.result;
    expect(eventsOf(running.events, "toolBlocked").map(({ callId, blockedBy }) => [callId, blockedBy])).toEqual([
      ["ba", "lost-b"],
    ]);
    expect(outcomesOf(result)).toEqual(["uncertain", "uncertain", "blocked"]);
  });

  it("several are blocked in source order, wherever each of them waits", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("read", "k", "r"),
      keyed("write", "k", "lane"),
      keyed("write", "x", "slot"),
      keyed("write", ["k", "x"], "both"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(eventsOf(running.events, "toolBlocked").map(({ callId }) => callId)).toEqual(["lane", "slot", "both"]);
    await endAll(bench);
    await running.result;
  });

  it("an epoch whose calls are all blocked is over at once", async () => {
    const bench = openParallel();
    const other = keyedTool({ name: "alone", executionMode: "sequential" });
    bench.session.setTools([bench.write, bench.read, other]);
    const running = await bench.start([
      keyed("alone", null, "lost"),
      keyed("write", "a", "a"),
      keyed("write", "b", "b"),
      keyed("alone", "c", "c"),
      keyed("read", "d", "d"),
    ]);
    runningCall(other, 0).reject(new Error("lost"));
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["d"]);
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "blocked", "blocked", "succeeded"]);
  });

  it("blocked is final: a later resolution changes no settled result", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "k", "blocked"),
      keyed("read", "r", "read"),
      keyed("write", "k", "after"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await bench.session.resolveUncertain("lost", { status: "committed" });
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded", "succeeded"]);
  });
});

describe("UNC-6: how long an uncertain write blocks", () => {
  it("scope batch, the default: the next batch may write again", async () => {
    const bench = openOrdered();
    const lost = await bench.start([keyed("write", "k", "lost"), keyed("write", "k", "blocked")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await lost.result)).toEqual(["uncertain", "blocked"]);
    const next = await bench.start([keyed("write", "k", "a"), keyed("write", null, "b")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded", "succeeded"]);
  });

  it("scope run: beyond its batch it blocks writes that share a key, and neither keyless ones nor reads", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", ["k", "m"], "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await lost.result;
    for (const turn of [2, 3]) {
      const next = await bench.start([
        keyed("write", "m", "same"),
        keyed("write", "other", "other"),
        keyed("write", null, "keyless"),
        keyed("read", "k", "read"),
      ]);
      await endAll(bench);
      expect([turn, outcomesOf(await next.result)]).toEqual([turn, ["blocked", "succeeded", "succeeded", "succeeded"]]);
    }
  });

  it("scope run: one without a key ends with its batch", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", null, "lost"), keyed("write", "k", "blocked")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await lost.result)).toEqual(["uncertain", "blocked"]);
    const next = await bench.start([keyed("write", "k", "a")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });

  it("scope run: it lasts until it is resolved", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", "k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await lost.result;
    await bench.session.resolveUncertain("lost", { status: "failed", details: { checked: "by hand" } });
    const next = await bench.start([keyed("write", "k", "a")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });
});
