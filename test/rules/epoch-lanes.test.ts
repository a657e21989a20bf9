import { describe, expect, it } from "vitest";
import { keyed, type LaneBench, openSession, openSessions, openTwo } from "../support/epoch-lanes-scene.ts";
import { keyedTool, runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

describe("EPOCH-9: keys end at the session", () => {
  it("unless lanes are shared: equal keys of two sessions overlap", async () => {
    const simulated = trackedClock();
    const one = openSession(simulated, { lanes: undefined, place: 1 });
    const two = openSession(simulated, { lanes: undefined, place: 2 });
    const first = await one.start([keyed("write", "k", "a")]);
    const second = await two.start([keyed("write", "k", "b")]);
    expect([runningIn(first.events), runningIn(second.events)]).toEqual([["a"], ["b"]]);
    for (const { write } of [one, two]) runningCall(write, 0).resolve();
    await Promise.all([first.result, second.result]);
  });

  it("an uncertain write of one session blocks nobody of another, even with shared lanes", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "a")]);
    runningCall(one.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await first.result)).toEqual(["uncertain"]);
    const second = await two.start([keyed("write", "k", "b")]);
    runningCall(two.write, 0).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
  });
});

describe("EPOCH-9: sessions with the same lanes", () => {
  it("exclude each other's keys, reads included, and leave other keys alone", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "a")]);
    const second = await two.start([keyed("read", "k", "b"), keyed("write", "other", "c"), keyed("write", null, "d")]);
    expect([runningIn(first.events), runningIn(second.events)]).toEqual([["a"], ["c", "d"]]);
    runningCall(one.write, 0).resolve();
    await two.advance();
    expect(runningIn(second.events)).toEqual(["c", "d", "b"]);
    runningCall(two.read, 0).resolve();
    for (const place of [1, 2]) runningCall(two.write, place).resolve();
    await Promise.all([first.result, second.result]);
  });

  it("take turns in order of arrival", async () => {
    const sessions = openSessions(4);
    const batches = [];
    for (const [place, session] of sessions.entries()) {
      batches.push(await session.start([keyed("read", "k", `c${place}`)]));
    }
    for (const [place, session] of sessions.entries()) {
      expect(batches.map(({ events }) => runningIn(events).length)).toEqual(
        batches.map((_, at) => (at === place ? 1 : 0)),
      );
      runningCall(session.read, 0).resolve();
      await session.advance();
    }
    await Promise.all(batches.map(({ result }) => result));
  });

  it("arrive when their epoch starts: a call behind a barrier does not reserve its key", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("read", "x", "a"), keyed("write", "k", "late")]);
    // `late` is in the epoch of `a`; a barrier of its own needs a tool marked sequential.
    expect(runningIn(first.events)).toEqual(["a", "late"]);
    for (const tool of [one.read, one.write]) tool.pending[0]?.resolve();
    await first.result;
    const alone = keyedTool({ name: "alone", executionMode: "sequential" });
    one.session.setTools([one.read, alone]);
    const third = await one.start([keyed("read", "x", "r"), keyed("alone", "k", "barrier")]);
    const second = await two.start([keyed("write", "k", "b")]);
    expect(runningIn(second.events)).toEqual(["b"]);
    runningCall(one.read, 0).resolve();
    await one.advance();
    expect(runningIn(third.events)).toEqual([]);
    runningCall(two.write, 0).resolve();
    await one.advance();
    expect(runningIn(third.events)).toEqual(["barrier"]);
    runningCall(alone, 1).resolve();
    await Promise.all([second.result, third.result]);
  });

  it("cross their keys without a deadlock", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("read", ["a", "b"], "ab1"), keyed("read", ["b", "c"], "bc1")]);
    const second = await two.start([keyed("read", ["b", "a"], "ba2"), keyed("read", ["c", "a"], "ca2")]);
    const seen: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      const running = [...runningIn(first.events), ...runningIn(second.events)];
      seen.push(running.join("+"));
      for (const { read } of [one, two]) read.pending[0]?.resolve();
      await one.advance();
    }
    expect(seen).toEqual(["ab1", "bc1", "ba2", "ca2"]);
    await Promise.all([first.result, second.result]);
  });

  it("may be many: each key is used by one at a time, and all come to their end", async () => {
    const sessions = openSessions(30);
    let busy = 0;
    let peak = 0;
    const batches = [];
    for (const { session } of sessions) {
      const touch = keyedTool({ name: "touch", risk: "readOnly" });
      session.setTools([
        {
          ...touch,
          execute: async () => {
            busy += 1;
            peak = Math.max(peak, busy);
            await Promise.resolve();
            busy -= 1;
          },
        },
      ]);
      batches.push(session.execute(["a", "b", "c"].map((id) => keyed("touch", "k", id))));
    }
    const results = await Promise.all(batches.map(({ result }) => result));
    expect(results.map(outcomesOf)).toEqual(sessions.map(() => ["succeeded", "succeeded", "succeeded"]));
    expect(peak).toBe(1);
  });
});

describe("EPOCH-9: leaving shared lanes", () => {
  it("a cancelled call that waits lets the one behind it through", async () => {
    const [one, two, three] = openSessions(3) as [LaneBench, LaneBench, LaneBench];
    const { signal, abort } = trackedSignal();
    const first = await one.start([keyed("read", "k", "a")]);
    const second = await two.start([keyed("read", "k", "b")], { signal });
    const third = await three.start([keyed("read", "k", "c")]);
    abort();
    expect(outcomesOf(await second.result)).toEqual(["cancelled"]);
    expect(runningIn(third.events)).toEqual([]);
    runningCall(one.read, 0).resolve();
    await one.advance();
    expect(runningIn(third.events)).toEqual(["c"]);
    runningCall(three.read, 0).resolve();
    await Promise.all([first.result, third.result]);
  });

  it("a cancelled call that runs frees its key when it settles, also for another session", async () => {
    const { one, two } = openTwo();
    const { signal, abort } = trackedSignal();
    const first = await one.start([keyed("read", "k", "a")], { signal });
    const second = await two.start([keyed("write", "k", "b")]);
    abort();
    await two.advance(999);
    expect(runningIn(second.events)).toEqual([]);
    await two.advance(1);
    expect([outcomesOf(await first.result), runningIn(second.events)]).toEqual([["cancelled"], ["b"]]);
    runningCall(two.write, 0).resolve();
    await second.result;
  });

  it("a session that is closed frees what it waited for and what it had", async () => {
    const [one, two, three] = openSessions(3) as [LaneBench, LaneBench, LaneBench];
    const first = await one.start([keyed("read", "k", "a")]);
    await two.start([keyed("read", "k", "b")]);
    const third = await three.start([keyed("read", "k", "c")]);
    await two.session.close();
    const closed = one.session.close();
    runningCall(one.read, 0).resolve();
    await closed;
    await one.advance();
    expect(outcomesOf(await first.result)).toEqual(["succeeded"]);
    expect(runningIn(third.events)).toEqual(["c"]);
    runningCall(three.read, 0).resolve();
    await third.result;
  });

  it("a call that is blocked in its own session lets the one behind it through", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "lost"), keyed("write", ["k", "m"], "blocked")]);
    const second = await two.start([keyed("read", "m", "b")]);
    expect(runningIn(second.events)).toEqual([]);
    runningCall(one.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await first.result)).toEqual(["uncertain", "blocked"]);
    await two.advance();
    expect(runningIn(second.events)).toEqual(["b"]);
    runningCall(two.read, 0).resolve();
    await second.result;
  });
});
