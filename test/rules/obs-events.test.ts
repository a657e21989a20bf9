import { lastValueFrom, map, type Observer, Subject, share, take, tap, toArray } from "rxjs";
import { type Batch, defineTool, type KernelEvent, type ToolSessionOptions, type TraceRecord } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow, keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, eventsOf, outcomesOf, storyOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

const trap = (): never => {
  throw new Error("secret of the listener");
};

/** A session with one read, its telemetry, and a batch of two calls that has not begun. */
function openObserved(options: Partial<ToolSessionOptions> = {}) {
  const traced: TraceRecord[] = [];
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  const bench = openBench({ tools: [read], telemetry: { record: (record) => void traced.push(record) }, ...options });
  const execute = (): Batch => bench.session.execute([call("read", {}, "a"), call("read", {}, "b")]);
  const endAll = async (): Promise<void> => {
    await bench.advance();
    for (const one of [...read.pending]) one.resolve();
    await bench.advance();
  };
  const drops = () => traced.filter(({ name }) => name === "kernel.listenerdropped");
  return { ...bench, read, traced, execute, endAll, drops };
}

const STORY = [
  "toolStarted a",
  "toolPrepared a",
  "toolStarted b",
  "toolPrepared b",
  "epochStarted",
  "toolDispatched a",
  "toolDispatched b",
  "toolEnded a",
  "toolEnded b",
  "epochSettled",
];

describe("OBS-1: what events carry", () => {
  it("run id, turn, a sequence number that rises by one over the whole session, the clock's time", async () => {
    const bench = openObserved({ runId: "run-7" });
    const seen: KernelEvent[] = [];
    const startedAtMs = bench.clock.now();
    let atMs = startedAtMs;
    for (const turn of [1, 2, 9]) {
      const running = follow(bench.session.execute([call("read", {}, "a")], turn === 9 ? { turn } : {}));
      await bench.advance();
      await bench.advance(10);
      runningCall(bench.read, 0).resolve();
      await running.result;
      expect(running.events.every((event) => event.turn === turn && event.runId === "run-7")).toBe(true);
      const times = running.events.map(({ kind, timeMs }) => [kind, timeMs]);
      expect(times).toEqual([
        ["toolStarted", atMs],
        ["toolPrepared", atMs],
        ["epochStarted", atMs],
        ["toolDispatched", atMs],
        ["toolEnded", atMs + 10],
        ["epochSettled", atMs + 10],
      ]);
      seen.push(...running.events);
      atMs += 10;
    }
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, place) => place));
  });

  it("for calls the call id, index, tool, operation, and the epoch from its start on", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const write = keyedTool({ name: "write", timeoutMs: 100 });
    const bench = openBench({ tools: [read, write] });
    const running = await bench.start([
      call("nowhere", {}, "refused"),
      call("read", { keys: "r" }, "read"),
      call("write", { keys: "k" }, "lost"),
      call("write", { keys: "k" }, "blocked"),
    ]);
    runningCall(read, 1).progress("half");
    runningCall(read, 1).resolve();
    await bench.advance(1_100);
    await bench.session.resolveUncertain("lost", { status: "failed" }).catch(() => undefined);
    const { settled } = await running.result;
    const names = ["refused", "read", "lost", "blocked"];
    for (const event of running.events) {
      if (!("callId" in event)) continue;
      const index = names.indexOf(event.callId);
      const epochs = [undefined, 0, 1, 2];
      const isBefore = ["toolStarted", "toolPrepared", "toolRefused"].includes(event.kind);
      expect({
        kind: event.kind,
        index: event.callIndex,
        tool: event.toolName,
        id: event.operationId,
        epoch: event.epoch,
      }).toEqual({
        kind: event.kind,
        index,
        tool: ["nowhere", "read", "write", "write"][index],
        id: settled[index]?.operationId,
        epoch: isBefore ? undefined : epochs[index],
      });
      expect(Object.hasOwn(event, "epoch")).toBe(!isBefore && index > 0);
    }
    expect(new Set(running.events.map(({ kind }) => kind))).toEqual(
      new Set([
        "toolStarted",
        "toolPrepared",
        "toolRefused",
        "epochStarted",
        "toolDispatched",
        "toolProgressed",
        "toolBlocked",
        "toolEnded",
        "epochSettled",
      ]),
    );
  });

  it("a batch is told in one order from the first to the last", async () => {
    const bench = openObserved();
    const running = follow(bench.execute());
    await bench.endAll();
    await running.result;
    expect(storyOf(running.events)).toEqual(STORY);
  });

  it("what a call waited for is told in milliseconds of the clock", async () => {
    const bench = openObserved();
    const running = follow(bench.session.execute(["a", "b"].map((id) => call("read", { keys: "k" }, id))));
    await bench.advance();
    await bench.advance(25);
    runningCall(bench.read, 0).resolve();
    await bench.advance();
    await bench.advance(5);
    runningCall(bench.read, 1).resolve();
    await running.result;
    expect(eventsOf(running.events, "toolDispatched").map(({ waitedMs }) => waitedMs)).toEqual([0, 25]);
    expect(eventsOf(running.events, "toolEnded").map(({ durationMs }) => durationMs)).toEqual([25, 5]);
  });
});

describe("OBS-1: late and early listeners", () => {
  it("subscribe: every listener gets every event once, from the first on, also after the end", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const early: KernelEvent[] = [];
    batch.subscribe((event) => void early.push(event));
    await bench.advance();
    const middle: KernelEvent[] = [];
    batch.subscribe((event) => void middle.push(event));
    expect(storyOf(middle)).toEqual(STORY.slice(0, 7));
    await bench.endAll();
    await batch.result;
    const late: KernelEvent[] = [];
    batch.subscribe((event) => void late.push(event));
    for (const seen of [early, middle, late]) expect(storyOf(seen)).toEqual(STORY);
  });

  it("for await: begins with the first event whenever it begins, and ends with the batch", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const read = async (): Promise<string[]> => {
      const seen: KernelEvent[] = [];
      for await (const event of batch) seen.push(event);
      return storyOf(seen);
    };
    const early = read();
    await bench.endAll();
    expect(await early).toEqual(STORY);
    expect(await Promise.all([read(), read()])).toEqual([STORY, STORY]);
  });

  it("events$: the same, as an Observable", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const early = lastValueFrom(batch.events$.pipe(toArray()));
    await bench.endAll();
    expect(storyOf(await early)).toEqual(STORY);
    expect(storyOf(await lastValueFrom(batch.events$.pipe(toArray())))).toEqual(STORY);
  });

  it("a batch that queues is not told of the one before it", async () => {
    const bench = openObserved();
    const first = follow(bench.execute());
    const second = follow(bench.execute());
    await bench.endAll();
    expect(storyOf(first.events)).toEqual(STORY);
    await bench.endAll();
    await second.result;
    expect(storyOf(second.events)).toEqual(STORY);
    expect((second.events[0]?.seq ?? 0) - (first.events.at(-1)?.seq ?? 0)).toBe(1);
  });
});

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

describe("OBS-1: progress", () => {
  it("is told in order, before the end of its call, and dropped after it", async () => {
    const bench = openObserved();
    const running = follow(bench.session.execute([call("read", {}, "a")]));
    await bench.advance();
    const one = runningCall(bench.read, 0);
    one.progress(1);
    one.progress({ two: 2 });
    one.resolve();
    await running.result;
    one.progress(3);
    await bench.advance();
    expect(running.log()).toEqual([
      "epoch 0: a",
      "a starts",
      "a says 1",
      'a says {"two":2}',
      "a ends succeeded",
      "epoch 0 over",
    ]);
  });

  it("is bounded by limits.maxProgressEventsPerTool, per call", async () => {
    const bench = openObserved({ limits: { maxProgressEventsPerTool: 2 } });
    const running = follow(bench.execute());
    await bench.advance();
    for (const place of [0, 1]) {
      for (const update of [1, 2, 3]) runningCall(bench.read, place).progress(update);
    }
    await bench.endAll();
    await running.result;
    expect(eventsOf(running.events, "toolProgressed").map(({ callId, update }) => [callId, update])).toEqual([
      ["a", 1],
      ["a", 2],
      ["b", 1],
      ["b", 2],
    ]);
  });

  it("C21: is told to telemetry where it is dropped: how much so far, each time that has doubled", async () => {
    const bench = openObserved({ runId: "run", limits: { maxProgressEventsPerTool: 2 } });
    const running = follow(bench.session.execute([call("read", {}, "a")]));
    await bench.advance();
    const one = runningCall(bench.read, 0);
    for (let update = 0; update < 5; update++) one.progress(update);
    one.resolve();
    await running.result;
    for (let update = 0; update < 6; update++) one.progress(update);
    const dropped = bench.traced.filter(({ name }) => name === "kernel.progressdropped");
    const [ended] = eventsOf(running.events, "toolEnded");
    const { timeMs, operationId } = ended ?? {};
    const place = { turn: 1, callId: "a", callIndex: 0, toolName: "read", operationId };
    expect(dropped).toEqual(
      [1, 2, 4, 8].map((count) => ({
        name: "kernel.progressdropped",
        timeMs,
        runId: "run",
        attributes: { ...place, dropped: count },
      })),
    );
  });

  it("is a copy that nobody can change, and null where it cannot be recorded", async () => {
    const bench = openObserved();
    const running = follow(bench.session.execute([call("read", {}, "a")]));
    await bench.advance();
    const update = { step: 1 };
    const one = runningCall(bench.read, 0);
    one.progress(update);
    update.step = 2;
    one.progress(1n);
    one.progress(undefined);
    one.resolve();
    await running.result;
    expect(eventsOf(running.events, "toolProgressed").map((event) => event.update)).toEqual([{ step: 1 }, null, null]);
  });

  it("may come while the executor is being called, after its dispatch is told", async () => {
    const eager = defineTool({
      name: "eager",
      description: "Tells at once.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      execute: (_args, { progress }) => progress("here"),
    });
    const bench = openBench({ tools: [eager] });
    const running = await bench.start([call("eager", {}, "e")]);
    await running.result;
    expect(running.log()).toEqual(["epoch 0: e", "e starts", 'e says "here"', "e ends succeeded", "epoch 0 over"]);
  });
});

describe("OBS-1: a session of one batch", () => {
  it("begins its work in a microtask after execute has returned", async () => {
    const bench = openObserved();
    const running = follow(bench.execute());
    expect(running.events).toEqual([]);
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["a", "b"]);
    await bench.endAll();
    await running.result;
  });

  it("ends its events before it gives its result", async () => {
    const bench = openObserved();
    const batch = bench.execute();
    const steps: string[] = [];
    batch.events$.subscribe({ complete: () => void steps.push("complete") });
    const told = batch.result.then(() => void steps.push("result"));
    await bench.endAll();
    await told;
    expect(steps).toEqual(["complete", "result"]);
  });
});
