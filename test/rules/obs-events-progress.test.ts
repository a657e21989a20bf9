import { defineTool } from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { openObserved } from "../support/obs-events-scene.ts";
import { call, eventsOf } from "../support/run-calls.ts";

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
