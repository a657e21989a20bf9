import { lastValueFrom, toArray } from "rxjs";
import type { KernelEvent } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow, keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { openObserved, STORY } from "../support/obs-events-scene.ts";
import { call, eventsOf, storyOf } from "../support/run-calls.ts";

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
