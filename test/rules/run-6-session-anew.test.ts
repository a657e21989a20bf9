import { memoryRunStore, type RunFact, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { draftsOf, factsIn, type LeftCall, leaveRun, leftFacts, storeOf } from "../support/left-run.ts";
import { misuseOf } from "../support/run-6-session-scene.ts";
import { call, eventsOf, finish, outcomesOf, recordingTool, testSession, textsOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

describe("a store that is asked anew", () => {
  it("RUN-6: after a claim that failed, the next response tries again", async () => {
    const runStore = memoryRunStore();
    const holder = await runStore.claim("run", { create: true });
    const session = testSession({ tools: [recordingTool().tool], runStore });
    expect(await misuseOf(session.execute([call("read")]).result)).toBe("RUN_CLAIMED runId");
    await holder.release();
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["succeeded"]);
    await session.close();
  });

  it("RUN-6: setTools between a restart and the response that was left: a tool that is gone refuses its calls", async () => {
    const calls: LeftCall[] = [{ name: "gone" }, { name: "read" }, { name: "gone", state: "succeeded" }];
    const session = testSession({ tools: [recordingTool().tool], runStore: await leaveRun(calls) });
    const { result } = await finish(session.execute(draftsOf(calls)));
    expect(result.settled.map(({ outcome, result: { failureCategory } }) => [outcome, failureCategory])).toEqual([
      ["refused", "invalidArguments"],
      ["succeeded", undefined],
      ["succeeded", undefined],
    ]);
    expect(textsOf(result)[0]).toContain("no longer there");
    await session.close();
  });

  it("EPOCH-2, RUN-6: the plan stands, even if the marks of tools and the mode are others now", async () => {
    const calls: LeftCall[] = [{ name: "slow" }, { name: "slow" }, { name: "slow" }];
    // Planned as two that may overlap and one behind them; marked sequential now.
    const slow = controllableTool({ name: "slow", risk: "nonIdempotentWrite", executionMode: "sequential" });
    const runStore = await leaveRun(calls, { epochs: [[0, 2], [1]] });
    const { session, start, advance } = openBench({ tools: [slow], runStore, toolExecution: "sequential" });
    const { result } = await start(draftsOf(calls));
    expect(slow.pending.map(({ callIndex }) => callIndex)).toEqual([0, 2]);
    for (const { resolve } of [...slow.pending]) resolve(toolResult({ value: "ok" }));
    await advance();
    expect(slow.pending.map(({ callIndex }) => callIndex)).toEqual([1]);
    slow.pending[0]?.resolve("ok");
    expect(outcomesOf(await result)).toEqual(["succeeded", "succeeded", "succeeded"]);
    await session.close();
    expect((await factsIn(runStore)).filter(({ kind }) => kind === "planned")).toHaveLength(1);
  });

  it("PREP-9, RUN-6: what was prepared is not refused by limits that are smaller now", async () => {
    const calls: LeftCall[] = [
      { name: "read", state: "succeeded" },
      { name: "read", arguments: { long: "x".repeat(50) } },
    ];
    const limits = { maxToolCallsPerTurn: 1, maxToolCalls: 1, maxArgumentCharacters: 10 };
    const session = testSession({ tools: [recordingTool().tool], runStore: await leaveRun(calls), limits });
    expect(outcomesOf(await session.execute(draftsOf(calls)).result)).toEqual(["succeeded", "succeeded"]);
    await session.close();
  });
});

describe("what a process that lives leaves behind", () => {
  const LIMITS = { toolTimeoutMs: 100, cancellationGraceMs: 10, abandonAfterMs: 5_000 };

  it.each([
    ["its key", "k"],
    ["every later write, where it has no key", undefined],
  ])(
    "EPOCH-8, RUN-6: an abandoned write keeps %s in the next session too, until its time is over",
    async (_what, key) => {
      const stuck = controllableTool({ name: "stuck", risk: "nonIdempotentWrite", conflictKey: () => key });
      const runStore = memoryRunStore();
      const simulated = trackedClock();
      const first = openBench({ tools: [stuck], runStore, limits: LIMITS, simulated });
      const { result } = await first.start([call("stuck")]);
      await first.advance(110);
      expect(outcomesOf(await result)).toEqual(["uncertain"]);
      await first.session.close();

      const later = recordingTool({ name: "later", risk: "nonIdempotentWrite", conflictKey: (() => "k") as never });
      const other = recordingTool({ name: "other", risk: "nonIdempotentWrite", conflictKey: (() => "other") as never });
      const second = openBench({ tools: [later.tool, other.tool], runStore, limits: LIMITS, simulated });
      const batch = await second.start([call("other"), call("later")]);
      expect([other.runs.length, later.runs.length]).toEqual([key === undefined ? 0 : 1, 0]);
      // The signal fired at 100, the hold lasts for 5,000 more.
      await second.advance(4_989);
      expect(later.runs).toHaveLength(0);
      await second.advance(1);
      expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
      await second.session.close();
      expect((await factsIn(runStore)).find(({ kind }) => kind === "settled")).toMatchObject({
        heldUntilMs: 1_767_225_600_000 + 100 + 5_000,
      });
      stuck.pending[0]?.resolve("late");
      await second.advance();
    },
  );

  it("EPOCH-8, RUN-6: a write that ended in time, and one of a process that died, keep nothing", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite", conflictKey: (() => "k") as never });
    const runStore = await leaveRun([{ name: "write", keys: ["k"], state: "dispatched" }]);
    const { session, start } = openBench({ tools: [write.tool], runStore });
    await start(draftsOf([{ name: "write" }]));
    const next = await start([call("write")]);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
    await session.close();
  });

  it.each([
    ["before its calls were counted: they count", "prepared", [2]],
    ["when they had been counted: it is over with them", "planned", []],
  ] as const)("REP-7, RUN-6: new evidence %s", async (_when, behind, counts) => {
    const limits = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 0 };
    const calls: LeftCall[] = [{ name: "read" }];
    const facts = leftFacts(calls, {}).flatMap((fact): RunFact[] =>
      fact.kind === behind ? [fact, { kind: "evidence" }] : [fact],
    );
    const session = testSession({ tools: [recordingTool().tool], runStore: await storeOf(facts), limits });
    await session.execute(draftsOf(calls)).result;
    const { events } = await finish(session.execute([call("read", {}, "again")]));
    expect(eventsOf(events, "toolRepeatDetected").map(({ count }) => count)).toEqual(counts);
    await session.close();
  });
});
