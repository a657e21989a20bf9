import { describe, expect, it } from "vitest";
import { summaryOf, tally } from "../support/performance-tally-scene.ts";
import { callAt, dispatched, ended, type Step } from "./recorded-run.ts";

describe("OBS-4: the counts of a run", () => {
  it("tell outcomes and categories of failure, every call once", () => {
    const ends: readonly Parameters<typeof ended>[1][] = [
      { outcome: "failed", failureCategory: "transient" },
      { outcome: "failed" },
      { outcome: "refused", failureCategory: "invalidArguments" },
      { outcome: "blocked", failureCategory: "conflict" },
      { outcome: "cancelled", failureCategory: "cancelled" },
      { outcome: "uncertain", failureCategory: "timeout", outcomeUncertain: true },
      { outcome: "repeatTerminated", failureCategory: "conflict" },
      { outcome: "succeeded", failureCategory: "internal" },
    ];
    expect(tally(ends.map((fields, index): Step => [0, "toolEnded", ended(index, fields)]))).toEqual(
      summaryOf({
        runs: 1,
        turns: 1,
        toolCalls: 8,
        outcomes: {
          succeeded: 1,
          failed: 2,
          refused: 1,
          blocked: 1,
          cancelled: 1,
          uncertain: 1,
          repeatTerminated: 1,
        },
        failuresByCategory: {
          transient: 1,
          unspecified: 1,
          invalidArguments: 1,
          conflict: 2,
          cancelled: 1,
          timeout: 1,
        },
        uncertainWrites: 1,
      }),
    );
  });

  it("tell repeats, late returns and resolutions", () => {
    const summary = tally([
      [0, "toolRepeatDetected", { ...callAt(0), action: "advisory", count: 3 }],
      [0, "toolRepeatDetected", { ...callAt(0), action: "terminated", count: 8 }],
      [0, "toolRepeatDetected", { ...callAt(0), action: "terminated", count: 9 }],
      [0, "toolLateSettled", { ...callAt(0), returned: false }],
      [0, "toolUncertaintyResolved", { ...callAt(0), status: "failed" }],
    ]);
    expect(summary).toEqual(
      summaryOf({
        runs: 1,
        turns: 1,
        exactRepeatAdvisories: 1,
        exactRepeatTerminations: 2,
        lateSettlements: 1,
        uncertaintiesResolved: 1,
      }),
    );
  });

  it("tell what durable actions were spared, and count no write where nothing was executed", () => {
    const times = { hostMs: 0, frameworkMs: 0 };
    const actions = [
      { disposition: "executed", duplicateExecutionPrevented: false, recovered: false, ...times },
      { disposition: "replayed", duplicateExecutionPrevented: true, recovered: false, ...times },
      { disposition: "recovered", duplicateExecutionPrevented: true, recovered: true, ...times },
      { disposition: "conflictBlocked", duplicateExecutionPrevented: false, recovered: false, ...times },
    ] as const;
    const summary = tally([
      ...actions.map((_action, index): Step => [0, "toolDispatched", dispatched(index)]),
      ...actions.map((action, index): Step => [0, "toolEnded", ended(index, { action })]),
    ]);
    expect(summary).toEqual(
      summaryOf({
        runs: 1,
        turns: 1,
        toolCalls: 4,
        outcomes: { succeeded: 4 },
        worldWrites: 1,
        duplicatesPrevented: 2,
        recoveries: 1,
      }),
    );
  });
});
