import { describe, expect, it } from "vitest";
import { BEFORE_DISPATCH, keyed, openMixed } from "../support/can-scene.ts";
import { placesOf, runningCall } from "../support/execution-bench.ts";
import { outcomesOf, textsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

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
