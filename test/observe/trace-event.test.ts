import type { JsonObject, KernelEventKind } from "toolkernel";
import { describe, expect, it } from "vitest";
import { LaneNumbers } from "../../src/observe/lane-numbers.ts";
import { type TraceOptions, traceEvent } from "../../src/observe/trace-event.ts";
import { fullEvent, KINDS, SECRET } from "./sample-events.ts";

const options = (wantsConflictKeys = false): TraceOptions => ({ lanes: new LaneNumbers(), wantsConflictKeys });

const CALL = { callId: "call-1", callIndex: 2, toolName: "edit", operationId: "op-1", epoch: 3 };
const ATTRIBUTES: Readonly<Record<KernelEventKind, JsonObject>> = {
  runStarted: {},
  runResumed: {},
  turnStarted: {},
  modelRequestStarted: {},
  messageStarted: {},
  messageUpdated: { delta: { type: "toolCall" } },
  messageEnded: { message: { role: "toolResult" } },
  messageQueued: { queue: "steering" },
  toolStarted: CALL,
  toolPrepared: { ...CALL, lanes: [0, 1, 0] },
  toolRefused: { ...CALL, failureCategory: "authorization" },
  approvalRequested: { ...CALL, approvalId: "approval-1" },
  toolRepeatDetected: { ...CALL, action: "advisory", count: 3 },
  epochStarted: { epoch: 3, callIds: ["call-1", "call-2"] },
  toolDispatched: { ...CALL, isWrite: true, waitedMs: 6, barrierMs: 1, keyMs: 2, queueMs: 3 },
  toolProgressed: CALL,
  toolBlocked: { ...CALL, blockedBy: "call-0" },
  toolEnded: {
    ...CALL,
    outcome: "uncertain",
    isWrite: true,
    failureCategory: "timeout",
    outcomeUncertain: true,
    durationMs: 40,
    action: {
      disposition: "replayed",
      duplicateExecutionPrevented: true,
      recovered: false,
      hostMs: 5,
      frameworkMs: 7,
      status: "committed",
    },
  },
  toolLateSettled: { ...CALL, returned: true },
  toolUncertaintyResolved: { ...CALL, status: "committed" },
  epochSettled: { epoch: 3 },
  turnEnded: { toolCalls: 2 },
  runFaulted: { code: "KERNEL_STUCK" },
  runEnded: { status: "stopped", endedBy: "shouldStop" },
};

describe("OBS-3: a trace record", () => {
  it.each(KINDS)("of %s is named after it and holds names, counts and times alone", (kind) => {
    expect(traceEvent(fullEvent(kind), options())).toEqual({
      name: `kernel.${kind.toLowerCase()}`,
      timeMs: 1_000,
      runId: "run-1",
      attributes: { seq: 7, turn: 4, ...ATTRIBUTES[kind] },
    });
  });

  it("of any kind holds nothing of arguments, results, reasons, receipts or what a host says", () => {
    const records = KINDS.map((kind) => JSON.stringify(traceEvent(fullEvent(kind), options())));
    expect(KINDS.map((kind) => JSON.stringify(fullEvent(kind))).filter((text) => text.includes(SECRET))).toHaveLength(
      KINDS.length,
    );
    expect(records.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it("holds conflict keys where the host asks for them, beside the lane numbers", () => {
    const { attributes } = traceEvent(fullEvent("toolPrepared"), options(true));
    expect(attributes).toEqual({
      seq: 7,
      turn: 4,
      ...CALL,
      lanes: [0, 1, 0],
      conflictKeys: [`file:/home/${SECRET}`, `file:/tmp/${SECRET}`, `file:/home/${SECRET}`],
    });
  });

  it("numbers lanes by the first appearance of their keys in the run", () => {
    const lanes = new LaneNumbers();
    expect([lanes.of(["b", "a"]), lanes.of([]), lanes.of(["c", "b"])]).toEqual([[0, 1], [], [2, 0]]);
  });

  it("cuts a text after 128 characters", () => {
    const event = { ...fullEvent("toolStarted"), toolName: "x".repeat(1_000) } as ReturnType<typeof fullEvent>;
    expect(traceEvent(event, options()).attributes.toolName).toBe("x".repeat(128));
  });

  it("of a streamed piece that is none is a record all the same", () => {
    const event = { ...fullEvent("messageUpdated"), delta: undefined } as never;
    expect(traceEvent(event, options()).attributes.delta).toEqual({ type: "unknown" });
  });
});
