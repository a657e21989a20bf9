import { toolCallMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { CALL_EVENTS, nameOf, type Steps, stepOf } from "./chart-steps.ts";

/** Kinds of tools that the call chart tells apart once it runs. */
const TOOLS = {
  read: { isWrite: false, throwIsUncertain: true, canRecover: true },
  write: { isWrite: true, throwIsUncertain: true, canRecover: false },
  "write whose throw means failed": { isWrite: true, throwIsUncertain: false, canRecover: false },
  "write that recovers": { isWrite: true, throwIsUncertain: true, canRecover: true },
  "write that recovers, whose throw means failed": { isWrite: true, throwIsUncertain: false, canRecover: true },
} as const;
type ToolKind = keyof typeof TOOLS;

const TO_LANES = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED", "ALLOWED", "PLANNED", "EPOCH_STARTED"];

/** Leads a call of a tool through facts, from its dispatch on. */
function callAfter(tool: ToolKind, facts: readonly string[], before: readonly string[] = [...TO_LANES, "ADMITTED"]) {
  let [snapshot] = initialTransition(toolCallMachine, { callId: "c", isRecorded: false, ...TOOLS[tool] });
  for (const type of [...before, ...facts]) [snapshot] = transition(toolCallMachine, snapshot, { type } as never);
  return snapshot;
}

type Row = readonly [tool: ToolKind, state: string, facts: readonly string[], steps: Steps];

const ENDED = { SUCCEEDED: "finishing.succeeded [finish]", FAILED: "finishing.failed [finish]" };
const STOPPED = { TIMED_OUT: "stopping [stopExecutor]", CANCEL: "stopping [stopExecutor]" };
const FAILED = "finishing.failed [finish]";
const CANCELLED = "finishing.cancelled [finish]";
const UNCERTAIN = "finishing.uncertain [finish]";
const ASK = "recovering [askRecovery]";
const lost = (target: string): Steps => ({ LOST: target, THREW: target });
const stopping = (target: string): Steps => ({ ...lost(target), GRACE_OVER: target });
const writes = ["write", "write whose throw means failed"] as const;
const recovering = ["write that recovers", "write that recovers, whose throw means failed"] as const;

const RUNNING: readonly Row[] = [
  ["read", "running", [], { ...ENDED, ...STOPPED, ...lost(FAILED) }],
  ["write", "running", [], { ...ENDED, ...STOPPED, ...lost(UNCERTAIN) }],
  ["write whose throw means failed", "running", [], { ...ENDED, ...STOPPED, LOST: UNCERTAIN, THREW: FAILED }],
  ["write that recovers", "running", [], { ...ENDED, ...STOPPED, ...lost(ASK) }],
  ["write that recovers, whose throw means failed", "running", [], { ...ENDED, ...STOPPED, LOST: ASK, THREW: FAILED }],
];

// A cancellation is noted where it comes second, which shows in the context alone.
const NOTED = { CANCEL: "stopping" };
const STOPPING: readonly Row[] = [
  ["read", "stopping", ["TIMED_OUT"], { ...ENDED, ...stopping(FAILED), ...NOTED }],
  ["read", "stopping", ["CANCEL"], { ...ENDED, ...stopping(CANCELLED) }],
  ["read", "stopping", ["TIMED_OUT", "CANCEL"], { ...ENDED, ...stopping(FAILED) }],
  ...writes.flatMap((tool): Row[] => [
    [tool, "stopping", ["TIMED_OUT"], { ...ENDED, ...stopping(UNCERTAIN), ...NOTED }],
    [tool, "stopping", ["CANCEL"], { ...ENDED, ...stopping(UNCERTAIN) }],
  ]),
  ...recovering.flatMap((tool): Row[] => [
    [tool, "stopping", ["TIMED_OUT"], { ...ENDED, ...stopping(ASK), ...NOTED }],
    [tool, "stopping", ["CANCEL"], { ...ENDED, ...stopping(UNCERTAIN) }],
    [tool, "stopping", ["TIMED_OUT", "CANCEL"], { ...ENDED, ...stopping(UNCERTAIN) }],
  ]),
];

const HAPPENED = { CONFIRMED: "finishing.succeeded [finish]", UNRESOLVED: UNCERTAIN };
const RECOVERING: readonly Row[] = recovering.flatMap((tool): Row[] => [
  [
    tool,
    "recovering",
    ["TIMED_OUT", "GRACE_OVER"],
    { ...HAPPENED, DISPROVED: UNCERTAIN, EXECUTOR_ENDED: "recovering", CANCEL: "stoppingRecovery [stopRecovery]" },
  ],
  [
    tool,
    "recovering",
    ["TIMED_OUT", "GRACE_OVER", "EXECUTOR_ENDED"],
    { ...HAPPENED, DISPROVED: FAILED, CANCEL: "stoppingRecovery [stopRecovery]" },
  ],
  [tool, "recovering", ["LOST"], { ...HAPPENED, DISPROVED: FAILED, CANCEL: "stoppingRecovery [stopRecovery]" }],
  [
    tool,
    "recovering",
    ["TIMED_OUT", "THREW"],
    { ...HAPPENED, DISPROVED: FAILED, CANCEL: "stoppingRecovery [stopRecovery]" },
  ],
  [
    tool,
    "stoppingRecovery",
    ["TIMED_OUT", "GRACE_OVER", "CANCEL"],
    { ...HAPPENED, DISPROVED: UNCERTAIN, GRACE_OVER: UNCERTAIN, EXECUTOR_ENDED: "stoppingRecovery" },
  ],
  [tool, "stoppingRecovery", ["LOST", "CANCEL"], { ...HAPPENED, DISPROVED: FAILED, GRACE_OVER: UNCERTAIN }],
  [
    tool,
    "stoppingRecovery",
    ["TIMED_OUT", "GRACE_OVER", "CANCEL", "EXECUTOR_ENDED"],
    { ...HAPPENED, DISPROVED: FAILED, GRACE_OVER: UNCERTAIN },
  ],
]);

const FINISHING: readonly Row[] = [
  ["write", "finishing.succeeded", ["SUCCEEDED"], { FINISHED: "succeeded [settled]" }],
  ["write", "finishing.failed", ["FAILED"], { FINISHED: "failed [settled]" }],
  ["write", "finishing.uncertain", ["LOST"], { FINISHED: "uncertain [settled]" }],
  ["read", "finishing.cancelled", ["CANCEL", "GRACE_OVER"], { FINISHED: "cancelled [settled]" }],
  ["read", "finishing.failed", ["TIMED_OUT", "GRACE_OVER"], { FINISHED: "failed [settled]" }],
  ["write that recovers", "finishing.failed", ["LOST", "DISPROVED"], { FINISHED: "failed [settled]" }],
];

/** The steps that the chart takes from a state, by fact; what is not named is not taken. */
function takenFrom(from: SnapshotFrom<typeof toolCallMachine>): Steps {
  const steps = CALL_EVENTS.map((type) => [type, stepOf(toolCallMachine, from, { type })] as const);
  return Object.fromEntries(steps.filter(([, step]) => step !== "-"));
}

describe("the tool-call chart from its epoch on", () => {
  it.each([
    ["barrierWaiting", TO_LANES.slice(0, -1), { EPOCH_STARTED: "laneWaiting", CANCEL: "cancelled [settled]" }],
    [
      "laneWaiting",
      TO_LANES,
      { ADMITTED: "running [dispatch]", BLOCKED: "blocked [settled]", CANCEL: "cancelled [settled]" },
    ],
  ] as const)("EPOCH-2, EPOCH-4, UNC-5, CAN-1: in %s takes exactly its own steps", (state, before, steps) => {
    for (const tool of Object.keys(TOOLS) as ToolKind[]) {
      const from = callAfter(tool, [], before);
      expect([nameOf(from.value), takenFrom(from)]).toEqual([state, steps]);
    }
  });

  it("UNC-4: a call that is recorded is dispatched when that is durable, and may be blocked until then", () => {
    let [snapshot] = initialTransition(toolCallMachine, { callId: "c", isRecorded: true, ...TOOLS.write });
    for (const type of TO_LANES) [snapshot] = transition(toolCallMachine, snapshot, { type } as never);
    expect(stepOf(toolCallMachine, snapshot, { type: "ADMITTED" })).toBe("recording [recordDispatch]");
    [snapshot] = transition(toolCallMachine, snapshot, { type: "ADMITTED" });
    expect(takenFrom(snapshot)).toEqual({
      RECORDED: "running [dispatch]",
      BLOCKED: "blocked [settled]",
      CANCEL: "cancelled [settled]",
    });
  });

  it("RUN-6, CAN-5: a call whose dispatch cannot be recorded is cancelled before dispatch", () => {
    let [snapshot] = initialTransition(toolCallMachine, { callId: "c", isRecorded: true, ...TOOLS.write });
    for (const type of [...TO_LANES, "ADMITTED", "CANCEL"])
      [snapshot] = transition(toolCallMachine, snapshot, { type } as never);
    expect([snapshot.value, snapshot.status]).toEqual(["cancelled", "done"]);
  });

  it.each([
    ["authorized", TO_LANES.slice(0, -2), { PLANNED: "barrierWaiting", REPEATED: "repeatTerminated [settled]" }],
    ["barrierWaiting", TO_LANES.slice(0, -1), { EPOCH_STARTED: "laneWaiting" }],
    ["laneWaiting", TO_LANES, { ADMITTED: "running [dispatch]", BLOCKED: "blocked [settled]" }],
  ] as const)(
    "RUN-6: in %s a write that an earlier process has dispatched is not recorded again, and never cancelled for certain",
    (state, before, steps) => {
      for (const [tool, CANCEL] of [
        ["write", "finishing.uncertain [finish]"],
        ["read", "cancelled [settled]"],
      ] as const) {
        const input = { callId: "c", isRecorded: true, wasDispatched: true, ...TOOLS[tool] };
        let [from] = initialTransition(toolCallMachine, input);
        for (const type of before) [from] = transition(toolCallMachine, from, { type } as never);
        expect([nameOf(from.value), takenFrom(from)]).toEqual([state, { ...steps, CANCEL }]);
      }
    },
  );

  it.each(RUNNING)("UNC-1: a %s, %s (after %j), takes exactly its own steps", (tool, state, facts, steps) => {
    const from = callAfter(tool, facts);
    expect([nameOf(from.value), takenFrom(from)]).toEqual([state, steps]);
  });

  it.each(STOPPING)("CAN-2, CAN-3: a %s, %s (after %j), takes exactly its own steps", (tool, state, facts, steps) => {
    const from = callAfter(tool, facts);
    expect([nameOf(from.value), takenFrom(from)]).toEqual([state, steps]);
  });

  it.each(RECOVERING)("UNC-7: a %s, %s (after %j), takes exactly its own steps", (tool, state, facts, steps) => {
    const from = callAfter(tool, facts);
    expect([nameOf(from.value), takenFrom(from)]).toEqual([state, steps]);
  });

  it.each(FINISHING)("CAN-4: a %s, %s (after %j), only waits for its result", (tool, state, facts, steps) => {
    const from = callAfter(tool, facts);
    expect([nameOf(from.value), takenFrom(from)]).toEqual([state, steps]);
  });

  it.each([
    ["blocked", [], [...TO_LANES, "BLOCKED"]],
    ["cancelled", [], [...TO_LANES, "CANCEL"]],
    ["succeeded", ["SUCCEEDED", "FINISHED"], undefined],
    ["failed", ["FAILED", "FINISHED"], undefined],
    ["uncertain", ["LOST", "FINISHED"], undefined],
  ] as const)("CAN-4: once %s it takes nothing more", (state, facts, before) => {
    const from = callAfter("write", facts, before);
    expect([nameOf(from.value), from.status, takenFrom(from)]).toEqual([state, "done", {}]);
  });

  it("CAN-2: remembers why its signal fired, the first cause for good, and that the run is cancelled", () => {
    const facts = (...given: string[]) => {
      const { stopCause, isRunCancelled, hasExecutorEnded } = callAfter("write that recovers", given).context;
      return { stopCause, isRunCancelled, hasExecutorEnded };
    };
    const [timeout, cancelled] = ["timeout", "cancelled"] as const;
    expect(facts()).toEqual({ stopCause: undefined, isRunCancelled: false, hasExecutorEnded: false });
    expect(facts("TIMED_OUT")).toEqual({ stopCause: timeout, isRunCancelled: false, hasExecutorEnded: false });
    expect(facts("CANCEL")).toEqual({ stopCause: cancelled, isRunCancelled: true, hasExecutorEnded: false });
    expect(facts("TIMED_OUT", "CANCEL")).toEqual({ stopCause: timeout, isRunCancelled: true, hasExecutorEnded: false });
    expect(facts("LOST")).toEqual({ stopCause: undefined, isRunCancelled: false, hasExecutorEnded: true });
    expect(facts("LOST", "CANCEL")).toEqual({ stopCause: cancelled, isRunCancelled: true, hasExecutorEnded: true });
  });

  it("says by tags who may still start, who is in flight and who has settled", () => {
    const tagsAfter = (facts: readonly string[], before?: readonly string[]) => [
      ...callAfter("write", facts, before).tags,
    ];
    expect(tagsAfter([], TO_LANES.slice(0, -1))).toEqual(["mayStillStart"]);
    expect(tagsAfter([], TO_LANES)).toEqual(["mayStillStart"]);
    for (const facts of [[], ["TIMED_OUT"], ["LOST"]]) expect(tagsAfter(facts)).toEqual(["inFlight"]);
    expect(tagsAfter(["LOST", "FINISHED"])).toEqual(["settled"]);
  });
});
