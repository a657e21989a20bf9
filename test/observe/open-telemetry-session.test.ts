import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { openBench, runningCall } from "../support/execution-bench.ts";
import { call } from "../support/run-calls.ts";
import { callAt, dispatched, ended, playStepsInto } from "./recorded-run.ts";
import { openTracing, outlineOf, spanNamed } from "./span-tree.ts";

describe("OBS-3: OpenTelemetry spans of a session", () => {
  it("are one tree for each batch; a call that never ran has a span without length", async () => {
    const tracing = openTracing();
    const write = controllableTool({ name: "write" });
    const bench = openBench({ tools: [write], telemetry: tracing.telemetry });
    const running = await bench.start([call("write", {}, "a"), call("nothing", {}, "b"), call("write", {}, "c")]);
    const startMs = running.events[0]?.timeMs ?? 0;
    await bench.advance(7);
    runningCall(write, 0).resolve();
    await bench.advance(3);
    runningCall(write, 2).resolve();
    await running.result;
    const again = await bench.start([call("write", {}, "d")]);
    runningCall(write, 0).resolve();
    await again.result;
    await bench.session.close();
    expect(outlineOf(await tracing.trees(), startMs)).toEqual([
      "kernel.batch 0..10",
      "  execute_tool nothing 0..0!",
      "  kernel.epoch 0..7",
      "    execute_tool write 0..7",
      "  kernel.epoch 7..10",
      "    execute_tool write 7..10",
      "kernel.batch 10..10",
      "  kernel.epoch 10..10",
      "    execute_tool write 10..10",
    ]);
  });

  it("are one tree also where calls are cancelled that were never started", async () => {
    const tracing = openTracing();
    const tools = [controllableTool({ name: "write" })];
    const hooks = { authorizeToolCall: () => new Promise<undefined>(() => undefined) };
    const bench = openBench({ tools, hooks, telemetry: tracing.telemetry });
    const abort = new AbortController();
    const calls = ["a", "b", "c"].map((id) => call("write", {}, id));
    const running = await bench.start(calls, { signal: abort.signal });
    const startMs = running.events[0]?.timeMs ?? 0;
    await bench.advance(2);
    abort.abort();
    await running.result;
    expect(outlineOf(await tracing.trees(), startMs)).toEqual([
      "kernel.batch 0..2",
      "  execute_tool write 2..2!",
      "  execute_tool write 2..2!",
      "  execute_tool write 2..2!",
    ]);
  });

  it("show a late return between batches by a span of its own, and within a later batch on that batch", async () => {
    const tracing = openTracing();
    const late = { ...callAt(0), returned: true };
    playStepsInto(tracing.telemetry, [
      [5, "toolLateSettled", late],
      [6, "toolStarted", callAt(0), { turn: 2 }],
      [7, "toolDispatched", dispatched(0), { turn: 2 }],
      [8, "toolLateSettled", late],
      [9, "toolEnded", ended(0), { turn: 2 }],
    ]);
    await Promise.resolve();
    const trees = await tracing.trees();
    expect(outlineOf(trees)).toEqual(["kernel.toollatesettled 5..5", "kernel.batch 6..9", "  execute_tool work 7..9"]);
    expect(spanNamed(trees, "kernel.batch").events).toEqual(["kernel.toolstarted", "kernel.toollatesettled"]);
  });
});
