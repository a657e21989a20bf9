import { type KernelEvent, readJsonLines, recordJsonLines, summarize } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { runTelltales } from "../support/obs-scene.ts";
import { call, testSession } from "../support/run-calls.ts";

describe("OBS-4: a summary", () => {
  it("of a session is the same from the session, from its live events and from its recording", async () => {
    const lines: string[] = [];
    const events: KernelEvent[] = [];
    const [read, write] = [keyedTool({ name: "read", risk: "readOnly" }), controllableTool({ name: "write" })];
    const limits = { maxConcurrentTools: 2, toolTimeoutMs: 50, cancellationGraceMs: 10 };
    const bench = openBench({ tools: [read, write], limits, telemetry: recordJsonLines((line) => lines.push(line)) });
    const running = await bench.start([
      call("read", { keys: "x" }, "a"),
      call("read", { keys: "x" }, "b"),
      call("read", {}, "c"),
      call("read", {}, "d"),
      call("write", {}, "e"),
      call("nothing", {}, "f"),
    ]);
    await bench.advance(10);
    runningCall(read, 0).resolve();
    await bench.advance(5);
    runningCall(read, 2).reject(new Error("no"));
    await bench.advance(5);
    for (const place of [1, 3]) runningCall(read, place).resolve();
    await bench.advance(60);
    await running.result;
    events.push(...running.events);
    const performance = bench.session.performance();
    await bench.session.close();
    write.pending[0]?.resolve();
    await bench.advance();
    // Reads: a 0..10, c 0..15, b from 10 on, d from 15 on, both until 20. The write is given up at 80.
    expect(performance).toEqual({
      runs: 1,
      turns: 1,
      modelRequests: 0,
      toolCalls: 6,
      outcomes: { succeeded: 3, failed: 1, refused: 1, blocked: 0, cancelled: 0, uncertain: 1, repeatTerminated: 0 },
      failuresByCategory: {
        ...{ invalidArguments: 1, authorization: 0, ruleRejected: 0, transient: 0, timeout: 1 },
        ...{ cancelled: 0, conflict: 0, internal: 0, unspecified: 1 },
      },
      worldWrites: 1,
      uncertainWrites: 1,
      duplicatesPrevented: 0,
      recoveries: 0,
      exactRepeatAdvisories: 0,
      exactRepeatTerminations: 0,
      lateSettlements: 0,
      uncertaintiesResolved: 0,
      times: {
        ...{ totalMs: 80, modelMs: 0, approvalMs: 0, toolMs: 80, frameworkMs: 0 },
        ...{ queueMs: 15, keyMs: 10, barrierMs: 20, durableFrameworkMs: 0 },
      },
    });
    expect(summarize([events])).toEqual(performance);
    expect(summarize([readJsonLines(lines)])).toEqual({ ...performance, lateSettlements: 1 });
    expect(bench.session.performance()).toEqual({ ...performance, lateSettlements: 1 });
  });

  it("of an Agent's run is the same from the run, from its result, its live events and its recording", async () => {
    const lines: string[] = [];
    const { events, run } = await runTelltales(recordJsonLines((line) => lines.push(line)));
    const performance = run.performance();
    expect(performance).toMatchObject({ runs: 1, turns: 2, modelRequests: 2, toolCalls: 3, worldWrites: 2 });
    expect((await run.result).performance).toEqual(performance);
    expect(summarize([events])).toEqual(performance);
    expect(summarize([readJsonLines(lines)])).toEqual(performance);
  });

  it("of a session that has done nothing is all zeros", async () => {
    const session = testSession({ tools: [] });
    expect(session.performance()).toEqual(summarize([]));
    await session.close();
  });
});
