import { map, type Observer, Subject, share, take, tap } from "rxjs";
import { type KernelEvent, recordJsonLines, type TraceRecord } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow } from "../support/execution-bench.ts";
import { openObserved, STORY, trap } from "../support/obs-events-scene.ts";
import { outcomesOf, storyOf } from "../support/run-calls.ts";

const THEN = "then";

describe("OBS-1: a listener that fails is reported once and dropped", () => {
  const failing: readonly (readonly [string, (event: KernelEvent) => unknown, string])[] = [
    ["throws", trap, "Error"],
    [
      "throws a text",
      () => {
        throw "x";
      },
      "string",
    ],
    [
      "throws a proxy that throws",
      () => {
        throw new Proxy({}, { getPrototypeOf: trap });
      },
      "unknown",
    ],
    ["rejects", async () => trap(), "Error"],
    ["answers a thenable that throws", () => ({ [THEN]: trap }), "Error"],
    ["answers something whose then throws", () => Object.defineProperty({}, THEN, { get: trap }), "Error"],
  ];

  it.each(failing)("one that %s", async (_what, listener, error) => {
    const bench = openObserved();
    const batch = bench.execute();
    let told = 0;
    batch.subscribe((event) => {
      told += 1;
      return listener(event);
    });
    const other = follow(batch);
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    expect([told, storyOf(other.events)]).toEqual([1, STORY]);
    expect(bench.drops().map(({ attributes, runId }) => [attributes, runId])).toEqual([[{ error }, "run"]]);
    expect(JSON.stringify(bench.traced)).not.toContain("secret of the listener");
  });

  it("a thenable that calls back twice makes no two calls at once", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const steps: string[] = [];
    let busy = 0;
    let peak = 0;
    batch.subscribe(({ kind }) => {
      busy += 1;
      peak = Math.max(peak, busy);
      steps.push(kind);
      return {
        [THEN]: (done: () => void) =>
          queueMicrotask(() => {
            busy -= 1;
            done();
            done();
          }),
      };
    });
    await bench.endAll();
    await batch.result;
    await bench.advance();
    expect([steps, peak]).toEqual([STORY.map((line) => line.split(" ")[0]), 1]);
  });

  it("OBS-1: a sink or inspector that answers with a promise ends no process when that rejects", async () => {
    const asked = { record: 0, inspect: 0, write: 0 };
    const rejects = (what: keyof typeof asked) => async () => {
      asked[what] += 1;
      trap();
    };
    const lines = recordJsonLines(rejects("write"));
    const record = (traced: TraceRecord) => {
      lines.record(traced);
      return rejects("record")();
    };
    const bench = openObserved({ telemetry: { record }, inspect: rejects("inspect") });
    const batch = bench.execute();
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    // An unhandled rejection would fail the whole file.
    await bench.advance();
    expect(Object.values(asked).every((times) => times > 1)).toBe(true);
  });

  it("the same when there is no telemetry to report to", async () => {
    const bench = openObserved({ telemetry: undefined });
    const batch = bench.execute();
    batch.subscribe(trap);
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
  });

  it.each<[string, Partial<Observer<KernelEvent>>, number]>([
    ["next", { next: trap }, 1],
    ["next, with an error handler", { next: trap, error: trap }, 1],
    ["complete", { next: () => undefined, complete: trap }, 1],
  ])("an Observable's subscriber that throws in %s", async (_what, observer, count) => {
    const bench = openObserved();
    const batch = bench.execute();
    batch.events$.subscribe(observer);
    const other = follow(batch);
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    expect([bench.drops().length, storyOf(other.events)]).toEqual([count, STORY]);
  });

  it("an operator that throws: the error goes to the subscriber's error handler, or is reported", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const errors: unknown[] = [];
    batch.events$.pipe(map(trap)).subscribe({ error: (error) => void errors.push(error) });
    expect(bench.drops()).toHaveLength(0);
    batch.events$.pipe(map(trap)).subscribe();
    batch.events$.pipe(map(trap), take(1)).subscribe(() => undefined);
    batch.events$.pipe(tap(trap)).subscribe({ error: trap });
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    expect(errors).toEqual([new Error("secret of the listener")]);
    expect(bench.drops()).toHaveLength(3);
  });

  it("a shared Observable and a Subject in between are as good", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const shared = batch.events$.pipe(share());
    const subject = new Subject<KernelEvent>();
    const seen: KernelEvent[] = [];
    subject.subscribe((event) => void seen.push(event));
    shared.subscribe(trap);
    shared.subscribe(subject);
    await bench.endAll();
    await batch.result;
    expect([storyOf(seen), bench.drops().length]).toEqual([STORY, 1]);
  });

  it("a listener dropped in one batch may listen to the next", async () => {
    const bench = openObserved();
    for (const turn of [1, 2]) {
      const batch = bench.execute();
      batch.subscribe(trap);
      await bench.endAll();
      await batch.result;
      expect(bench.drops()).toHaveLength(turn);
    }
  });
});
