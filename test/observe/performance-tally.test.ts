import type { KernelEventMap } from "toolkernel";
import { describe, expect, it } from "vitest";
import { summaryOf, tally } from "../support/performance-tally-scene.ts";
import { callAt, dispatched, ended, playSteps, type Step } from "./recorded-run.ts";

const assistant: KernelEventMap["messageEnded"] = { message: { role: "assistant", content: [], stopReason: "stop" } };

const user: KernelEventMap["messageEnded"] = { message: { role: "user", content: "hello" } };

describe("OBS-4: the times of a run", () => {
  it("count calls that run at the same time once, and give the rest to the framework", () => {
    const summary = tally([
      [0, "toolStarted", callAt(0)],
      [5, "toolStarted", callAt(1)],
      [10, "toolDispatched", dispatched(0)],
      [20, "toolDispatched", dispatched(1, { isWrite: false })],
      [60, "toolEnded", ended(0)],
      [80, "toolEnded", ended(1)],
      [80, "epochSettled", { epoch: 0 }],
    ]);
    expect(summary).toEqual(
      summaryOf({
        runs: 1,
        turns: 1,
        toolCalls: 2,
        outcomes: { succeeded: 2 },
        worldWrites: 1,
        times: { totalMs: 80, toolMs: 70, frameworkMs: 10 },
      }),
    );
  });

  it("of a session leave out what the host does between batches", () => {
    const summary = tally([
      [0, "toolStarted", callAt(0)],
      [1, "toolEnded", ended(0, { outcome: "cancelled" })],
      [901, "toolStarted", callAt(0), { turn: 2 }],
      [903, "toolEnded", ended(0, { outcome: "cancelled" }), { turn: 2 }],
    ]);
    expect(summary?.times).toEqual(summaryOf({ times: { totalMs: 3, frameworkMs: 3 } }).times);
    expect(summary?.turns).toBe(2);
  });

  it("of an Agent go from its start to its end, a model's time from its request to its answer", () => {
    const summary = tally([
      [0, "runStarted", {}, { turn: 0 }],
      [0, "messageEnded", user, { turn: 0 }],
      [2, "turnStarted", {}],
      [5, "modelRequestStarted", {}],
      [30, "messageStarted", {}],
      [35, "messageEnded", user],
      [45, "messageEnded", assistant],
      [50, "turnEnded", { toolCalls: 0 }],
      [51, "turnStarted", {}, { turn: 2 }],
      [52, "modelRequestStarted", {}, { turn: 2 }],
      [62, "turnEnded", { toolCalls: 0 }, { turn: 2 }],
      [70, "runEnded", { status: "completed", endedBy: "noCalls" }, { turn: 2 }],
      [500, "toolLateSettled", { ...callAt(0), returned: true }],
    ]);
    expect(summary).toEqual(
      summaryOf({
        runs: 1,
        turns: 2,
        modelRequests: 2,
        lateSettlements: 1,
        times: { totalMs: 70, modelMs: 50, frameworkMs: 20 },
      }),
    );
  });

  it("of a model request that was never answered end with the run", () => {
    const summary = tally([
      [0, "runStarted", {}],
      [1, "modelRequestStarted", {}],
      [41, "runEnded", { status: "aborted", endedBy: "abort" }],
      [90, "runResumed", {}],
    ]);
    expect(summary?.times).toEqual(summaryOf({ times: { totalMs: 41, modelMs: 40, frameworkMs: 1 } }).times);
  });

  it("tell waiting for the epoch, for a key and for a slot apart, each counted once", () => {
    const summary = tally([
      [0, "toolStarted", callAt(0)],
      [0, "toolStarted", callAt(1)],
      [0, "toolStarted", callAt(2)],
      [10, "toolDispatched", dispatched(0, { barrierMs: 4, keyMs: 2, queueMs: 3 })],
      [12, "toolDispatched", dispatched(1, { barrierMs: 5, keyMs: 0, queueMs: 6 })],
      [20, "toolEnded", ended(0)],
      [30, "toolDispatched", dispatched(2, { barrierMs: 5, keyMs: 20, queueMs: 4 })],
      [31, "toolEnded", ended(1)],
      [33, "toolEnded", ended(2)],
    ]);
    // Barrier 1..5, 1..6 and 1..6; key 5..7 and 6..26; queue 7..10, 6..12 and 26..30.
    expect(summary?.times).toEqual(
      summaryOf({ times: { totalMs: 33, toolMs: 23, frameworkMs: 10, barrierMs: 5, keyMs: 21, queueMs: 10 } }).times,
    );
  });

  it("take a person's time as approval time, and out of the waiting for the epoch", () => {
    const summary = tally([
      [0, "toolStarted", callAt(0)],
      [2, "approvalRequested", { ...callAt(0), approvalId: "one", ask: {} }],
      [2, "approvalRequested", { ...callAt(1), approvalId: "two", ask: {} }],
      [500, "toolRefused", { ...callAt(1), failureCategory: "authorization", reason: "no" }],
      [1_002, "toolEnded", ended(1, { outcome: "refused", failureCategory: "authorization" })],
      [1_004, "epochStarted", { epoch: 0, callIds: ["call-0"] }],
      [1_004, "toolDispatched", dispatched(0, { barrierMs: 1_003 })],
      [1_010, "toolEnded", ended(0)],
    ]);
    expect(summary).toEqual(
      summaryOf({
        runs: 1,
        turns: 1,
        toolCalls: 2,
        outcomes: { succeeded: 1, refused: 1 },
        failuresByCategory: { authorization: 1 },
        worldWrites: 1,
        times: { totalMs: 1_010, approvalMs: 1_000, toolMs: 6, frameworkMs: 4, barrierMs: 3 },
      }),
    );
  });

  it("go on while a run waits for a person over its end, and stop while a process is gone", () => {
    const asked: readonly Step[] = [
      [0, "runStarted", {}],
      [0, "toolStarted", callAt(0)],
      [1, "approvalRequested", { ...callAt(0), approvalId: "one", ask: {} }],
      [2, "runEnded", { status: "awaitingApproval" }],
      [102, "runResumed", {}],
      [103, "epochStarted", { epoch: 0, callIds: ["call-0"] }],
      [104, "toolDispatched", dispatched(0)],
    ];
    expect(tally(asked)?.times).toEqual(summaryOf({ times: { totalMs: 104, approvalMs: 102, frameworkMs: 2 } }).times);
    expect(tally([...asked, [900, "runResumed", {}], [902, "runEnded", { status: "aborted" }]])?.times).toEqual(
      summaryOf({ times: { totalMs: 106, approvalMs: 102, frameworkMs: 4 } }).times,
    );
  });

  it("take the framework's part of durable actions once where they overlap", () => {
    const action = { disposition: "executed", duplicateExecutionPrevented: false, recovered: false } as const;
    const summary = tally([
      [0, "toolDispatched", dispatched(0)],
      [5, "toolDispatched", dispatched(1)],
      [30, "toolEnded", ended(0, { durationMs: 30, action: { ...action, hostMs: 20, frameworkMs: 10 } })],
      [50, "toolEnded", ended(1, { durationMs: 45, action: { ...action, hostMs: 37, frameworkMs: 8 } })],
    ]);
    // 0..10 and 5..13.
    expect(summary?.times).toEqual(summaryOf({ times: { totalMs: 50, toolMs: 50, durableFrameworkMs: 13 } }).times);
  });

  it("are never negative when the clock is set back", () => {
    const summary = tally([
      [1_000, "toolStarted", callAt(0)],
      [1_010, "toolDispatched", dispatched(0)],
      [500, "toolProgressed", { ...callAt(0), update: 1 }],
      [507, "toolEnded", ended(0)],
    ]);
    expect(summary?.times).toEqual(summaryOf({ times: { totalMs: 17, toolMs: 7, frameworkMs: 10 } }).times);
  });

  it("are known in the middle too, as of the last event, and looking changes nothing", () => {
    const steps: readonly Step[] = [
      [0, "toolStarted", callAt(0)],
      [9, "toolDispatched", dispatched(0, { keyMs: 4 })],
      [20, "toolProgressed", { ...callAt(0), update: 1 }],
    ];
    const middle = playSteps(steps);
    const expected = summaryOf({
      runs: 1,
      turns: 1,
      worldWrites: 1,
      times: { totalMs: 20, toolMs: 11, frameworkMs: 9, keyMs: 4 },
    });
    expect([middle.performance.get("run"), tally(steps)]).toEqual([expected, expected]);
  });

  it("of a batch that was dropped midway do not go on in the next", () => {
    const summary = tally([
      [0, "toolStarted", callAt(0)],
      [1, "toolDispatched", dispatched(0)],
      [3, "toolStarted", callAt(0), { turn: 2 }],
      [7, "toolEnded", ended(0, { outcome: "refused" }), { turn: 2 }],
    ]);
    expect(summary?.times).toEqual(summaryOf({ times: { totalMs: 7, toolMs: 2, frameworkMs: 5 } }).times);
  });
});
