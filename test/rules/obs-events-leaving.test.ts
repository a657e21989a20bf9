import { take } from "rxjs";
import type { KernelEvent } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow } from "../support/execution-bench.ts";
import { openObserved, STORY, trap } from "../support/obs-events-scene.ts";
import { call, outcomesOf, storyOf } from "../support/run-calls.ts";

describe("OBS-1: leaving", () => {
  it("leaving a for await cancels nothing, and the next one begins anew", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const first: string[] = [];
    const loop = (async () => {
      for await (const event of batch) {
        first.push(event.kind);
        if (first.length === 2) break;
      }
    })();
    await bench.endAll();
    await loop;
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    const seen: KernelEvent[] = [];
    for await (const event of batch) seen.push(event);
    expect([first.length, storyOf(seen)]).toEqual([2, STORY]);
  });

  it("a throw in the body of a for await is the host's own, and hurts nobody else", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const loop = (async () => {
      for await (const event of batch) if (event.kind === "toolDispatched") trap();
    })();
    const rejected = expect(loop).rejects.toThrowError("secret of the listener");
    await bench.endAll();
    await rejected;
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    expect(bench.drops()).toEqual([]);
  });

  it("a stopped subscription gets nothing more, also when it stops itself", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const seen: string[] = [];
    const stop = batch.subscribe(({ kind }) => {
      seen.push(kind);
      if (kind === "epochStarted") stop();
    });
    const other = follow(batch);
    await bench.endAll();
    await batch.result;
    stop();
    expect(seen).toEqual(["toolStarted", "toolPrepared", "toolStarted", "toolPrepared", "epochStarted"]);
    expect(storyOf(other.events)).toEqual(STORY);
  });

  it("also in the middle of what is told it late", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    await bench.endAll();
    await batch.result;
    const seen: string[] = [];
    let stop: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      stop = batch.subscribe(async ({ kind }) => {
        seen.push(kind);
        if (seen.length === 3) {
          stop();
          resolve();
        }
      });
    });
    await bench.advance();
    expect(seen).toEqual(["toolStarted", "toolPrepared", "toolStarted"]);
  });

  it("unsubscribing and take(n) end an Observable's reader alone", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const seen: string[] = [];
    const taken: string[] = [];
    const subscription = batch.events$.subscribe(({ kind }) => {
      seen.push(kind);
      if (kind === "epochStarted") subscription.unsubscribe();
    });
    batch.events$.pipe(take(3)).subscribe(({ kind }) => void taken.push(kind));
    await bench.endAll();
    await batch.result;
    expect([seen.length, taken.length]).toEqual([5, 3]);
  });

  it("a result that nobody looks at is no unhandled rejection, even for misuse seen late", async () => {
    const bench = openObserved();
    const first = bench.execute();
    bench.session.execute([call("read")], { approvals: { unknown: true } });
    await bench.endAll();
    await first.result;
    await bench.advance();
    const third = follow(bench.execute());
    await bench.endAll();
    expect(storyOf(third.events)).toEqual(STORY);
  });
});
