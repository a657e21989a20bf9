import { createToolSession } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyed, type LaneBench, openSessions, openTwo } from "../support/epoch-lanes-scene.ts";
import { runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

const ABANDONED_MS = 1_100;

const HOLD_OVER_MS = 30_100;

describe("EPOCH-8, EPOCH-9: an abandoned write of one session", () => {
  it("keeps its key against a write of another that waited before it was abandoned", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "lost")]);
    const second = await two.start([keyed("write", "k", "b")]);
    await one.advance(ABANDONED_MS);
    expect(outcomesOf(await first.result)).toEqual(["uncertain"]);
    await one.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(second.events)).toEqual([]);
    await one.advance(1);
    expect(runningIn(second.events)).toEqual(["b"]);
    runningCall(two.write, 0).resolve();
    await second.result;
  });

  it("keeps it against a write behind a read that has passed the hold", async () => {
    const [one, two, three] = openSessions(3) as [LaneBench, LaneBench, LaneBench];
    const first = await one.start([keyed("write", "k", "lost")]);
    const second = await two.start([keyed("read", "k", "r")]);
    const third = await three.start([keyed("write", "k", "w")]);
    await one.advance(ABANDONED_MS);
    await first.result;
    expect([runningIn(second.events), runningIn(third.events)]).toEqual([["r"], []]);
    runningCall(two.read, 0).resolve();
    await one.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(third.events)).toEqual([]);
    await one.advance(1);
    expect(runningIn(third.events)).toEqual(["w"]);
    runningCall(three.write, 0).resolve();
    await Promise.all([second.result, third.result]);
  });

  it("frees it for another when its executor returns, though its own session is idle", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "lost")]);
    const second = await two.start([keyed("write", "k", "b")]);
    await one.advance(ABANDONED_MS);
    await first.result;
    one.write.pending[0]?.resolve();
    await one.advance();
    expect(runningIn(second.events)).toEqual(["b"]);
    runningCall(two.write, 0).resolve();
    await second.result;
  });

  it("keeps it also when its own session is closed", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", "k", "lost")]);
    await one.advance(ABANDONED_MS);
    await first.result;
    await one.session.close();
    const second = await two.start([keyed("write", "k", "b")]);
    await one.advance(HOLD_OVER_MS - ABANDONED_MS - 1);
    expect(runningIn(second.events)).toEqual([]);
    await one.advance(1);
    runningCall(two.write, 0).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
  });

  it("without a key holds back the writes of its own session alone", async () => {
    const { one, two } = openTwo();
    const first = await one.start([keyed("write", null, "lost")]);
    await one.advance(ABANDONED_MS);
    await first.result;
    const second = await two.start([keyed("write", "k", "b"), keyed("write", null, "c")]);
    expect(runningIn(second.events)).toEqual(["b", "c"]);
    for (const place of [0, 1]) runningCall(two.write, place).resolve();
    await second.result;
  });

  it("leaves no timer with a session that waited for the hold and was cancelled", async () => {
    const { one, two } = openTwo();
    const { signal, abort } = trackedSignal();
    const first = await one.start([keyed("write", "k", "lost")]);
    const second = await two.start([keyed("write", "k", "b")], { signal });
    await one.advance(ABANDONED_MS);
    await first.result;
    expect(one.pendingTimers()).toBe(1);
    abort();
    await second.result;
    expect(one.pendingTimers()).toBe(0);
  });
});

describe("EPOCH-9: lanes", () => {
  it.each([{}, null, new Map(), { queues: [] }, "lanes"])("are made by createLanes: %j is refused", (lanes) => {
    expect(() => createToolSession({ tools: [], lanes: lanes as never })).toThrowError(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "lanes" }),
    );
  });
});
