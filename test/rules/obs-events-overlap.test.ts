import type { Batch, KernelEvent } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow, runningCall } from "../support/execution-bench.ts";
import { openObserved, STORY } from "../support/obs-events-scene.ts";
import { call, outcomesOf, storyOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

describe("OBS-1: listeners never overlap and stall nobody", () => {
  it("an async listener gets its next event when it is done with the last; the run does not wait", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const steps: string[] = [];
    const gates: (() => void)[] = [];
    batch.subscribe(async (event) => {
      steps.push(`begin ${event.kind}`);
      await new Promise<void>((resolve) => gates.push(resolve));
      steps.push(`end ${event.kind}`);
    });
    await bench.endAll();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
    expect(steps).toEqual(["begin toolStarted"]);
    while (gates.length > 0) {
      gates.shift()?.();
      await bench.advance();
    }
    expect(steps).toEqual(
      STORY.flatMap((line) => line.split(" ").slice(0, 1)).flatMap((kind) => [`begin ${kind}`, `end ${kind}`]),
    );
  });

  it("a listener that never ends its first event gets no second, and stalls nobody", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    let told = 0;
    batch.subscribe(() => {
      told += 1;
      return new Promise(() => undefined);
    });
    const other = follow(batch);
    await bench.endAll();
    await batch.result;
    expect([told, storyOf(other.events)]).toEqual([1, STORY]);
  });

  it("a slow reader of a for await stalls nobody and misses nothing", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const seen: KernelEvent[] = [];
    const loop = (async () => {
      for await (const event of batch) {
        seen.push(event);
        if (seen.length === 1) await batch.result;
      }
    })();
    await bench.endAll();
    await loop;
    expect(storyOf(seen)).toEqual(STORY);
  });

  it("what a listener sets going itself is told to it after it has returned", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const steps: string[] = [];
    let depth = 0;
    batch.subscribe((event) => {
      depth += 1;
      steps.push(`${event.kind} at depth ${depth}`);
      if (event.kind === "toolDispatched" && event.callId === "b") runningCall(bench.read, 0).progress(1);
      depth -= 1;
    });
    const other = follow(batch);
    await bench.endAll();
    await batch.result;
    expect(steps.every((step) => step.endsWith("at depth 1"))).toBe(true);
    expect(storyOf(other.events)).toEqual([...STORY.slice(0, 7), "toolProgressed a", ...STORY.slice(7)]);
    expect(other.events.map(({ seq }) => seq)).toEqual(other.events.map((_, place) => place));
  });

  it("a listener may add a listener, which then gets every event once, too", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const added: KernelEvent[] = [];
    let isAdded = false;
    batch.subscribe((event) => {
      if (event.kind !== "epochStarted" || isAdded) return;
      isAdded = true;
      batch.subscribe((later) => void added.push(later));
    });
    await bench.endAll();
    await batch.result;
    expect(storyOf(added)).toEqual(STORY);
  });

  it("a listener may execute, cancel and close", async () => {
    const bench = openObserved();
    const { signal, abort } = trackedSignal();
    const batch = bench.session.execute([call("read", {}, "a"), call("read", {}, "b")], { signal });
    let next: Batch | undefined;
    let closed: Promise<void> | undefined;
    batch.subscribe(({ kind }) => {
      if (kind !== "epochStarted") return;
      next = bench.execute();
      abort();
      closed = bench.session.close();
    });
    await bench.advance(1_000);
    await closed;
    expect(outcomesOf(await batch.result)).toEqual(["cancelled", "cancelled"]);
    expect(outcomesOf((await next?.result) ?? ({ settled: [] } as never))).toEqual(["cancelled", "cancelled"]);
  });
});
