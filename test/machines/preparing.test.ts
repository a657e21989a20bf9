import { batchMachine, toolCallMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { CALL_EVENTS, effectsOf, nameOf, stepOf } from "./chart-steps.ts";

const INPUT = { callId: "c", isWrite: true, throwIsUncertain: true, canRecover: true, isRecorded: false };

/** Leads a call through facts, from its beginning. */
function callAfter(...facts: readonly string[]): SnapshotFrom<typeof toolCallMachine> {
  let [snapshot] = initialTransition(toolCallMachine, INPUT);
  for (const type of facts) [snapshot] = transition(toolCallMachine, snapshot, { type } as never);
  return snapshot;
}

const TO_REWRITING = ["FOUND", "SHAPED", "VALID"];
const TO_AUTHORIZING = [...TO_REWRITING, "KEPT", "REFINED", "KEYED"];
const REFUSABLE = { REFUSED: "refusing", CANCEL: "cancelled [settled]" };

/** Every step that a call can take before its epoch; whatever is not named is not taken. */
const CALL_TABLE: readonly [state: string, facts: readonly string[], steps: Readonly<Record<string, string>>][] = [
  ["preparing.lookup", [], { FOUND: "preparing.compat", ...REFUSABLE }],
  ["preparing.compat", ["FOUND"], { SHAPED: "preparing.validating", ...REFUSABLE }],
  ["preparing.validating", ["FOUND", "SHAPED"], { VALID: "preparing.rewriting", ...REFUSABLE }],
  [
    "preparing.rewriting",
    TO_REWRITING,
    { KEPT: "preparing.refining", REWRITTEN: "preparing.validating", ...REFUSABLE },
  ],
  ["preparing.validating", [...TO_REWRITING, "REWRITTEN"], { VALID: "preparing.refining", ...REFUSABLE }],
  ["preparing.refining", [...TO_REWRITING, "KEPT"], { REFINED: "preparing.resolvingKeys", ...REFUSABLE }],
  ["preparing.resolvingKeys", [...TO_REWRITING, "KEPT", "REFINED"], { KEYED: "preparing.authorizing", ...REFUSABLE }],
  ["preparing.authorizing", TO_AUTHORIZING, { ALLOWED: "authorized", ASKED: "awaitingApproval", ...REFUSABLE }],
  [
    "awaitingApproval",
    [...TO_AUTHORIZING, "ASKED"],
    { GRANTED: "authorized", DENIED: "refusing", CANCEL: "cancelled [settled]" },
  ],
  ["refusing", ["REFUSED"], { CHECKED: "refused [settled]", CANCEL: "refused [settled]" }],
  ["refusing", [...TO_AUTHORIZING, "ASKED", "DENIED"], { CHECKED: "refused [settled]", CANCEL: "refused [settled]" }],
  [
    "authorized",
    [...TO_AUTHORIZING, "ALLOWED"],
    { PLANNED: "barrierWaiting", REPEATED: "repeatTerminated [settled]", CANCEL: "cancelled [settled]" },
  ],
  [
    "authorized",
    [...TO_AUTHORIZING, "ASKED", "GRANTED"],
    { PLANNED: "barrierWaiting", REPEATED: "repeatTerminated [settled]", CANCEL: "cancelled [settled]" },
  ],
];

describe("the tool-call chart", () => {
  it.each(CALL_TABLE)("PREP-1, APP-1: in %s (after %j) takes exactly its own steps", (state, facts, steps) => {
    const from = callAfter(...facts);
    expect(nameOf(from.value)).toBe(state);
    const taken = CALL_EVENTS.map((type) => [type, stepOf(toolCallMachine, from, { type })]);
    expect(Object.fromEntries(taken.filter(([, step]) => step !== "-"))).toEqual(steps);
  });

  it.each([
    ["refused", ["REFUSED", "CHECKED"]],
    ["cancelled", ["CANCEL"]],
    ["repeatTerminated", [...TO_AUTHORIZING, "ALLOWED", "REPEATED"]],
  ])("PREP-12, CAN-4: once %s takes nothing more", (state, facts) => {
    const from = callAfter(...facts);
    expect([nameOf(from.value), from.status]).toEqual([state, "done"]);
    expect(CALL_EVENTS.map((type) => stepOf(toolCallMachine, from, { type }))).toEqual(CALL_EVENTS.map(() => "-"));
  });

  it("PREP-1: arguments are rewritten at most once, and nothing between authorization and dispatch changes them", () => {
    const again = callAfter(...TO_REWRITING, "REWRITTEN", "VALID");
    expect(nameOf(again.value)).toBe("preparing.refining");
    expect(stepOf(toolCallMachine, again, { type: "REWRITTEN" })).toBe("-");
  });

  it("APP-1: no path leads past authorizing to a dispatch but by ALLOWED or GRANTED", () => {
    const shortcuts = CALL_TABLE.filter(([state]) => state !== "preparing.authorizing" && state !== "awaitingApproval")
      .flatMap(([, , steps]) => Object.entries(steps))
      .filter(([, target]) => target === "authorized");
    expect(shortcuts).toEqual([]);
  });
});

const BATCH_EVENTS = [
  { type: "REFUSE" },
  { type: "PREPARED", undecided: 0 },
  { type: "PREPARED", undecided: 2 },
  { type: "DECIDED", undecided: 0 },
  { type: "DECIDED", undecided: 1 },
  { type: "CHECKED" },
  { type: "PLANNED", epochs: 0 },
  { type: "PLANNED", epochs: 2 },
  { type: "EPOCH_SETTLED" },
  { type: "CALLS_SETTLED" },
  { type: "STORE_LOST" },
  { type: "CANCEL" },
] as const;

type BatchFact = (typeof BATCH_EVENTS)[number];
const labelOf = (event: BatchFact): string => Object.values(event).join(" ");

function batchAfter(...facts: readonly BatchFact[]): SnapshotFrom<typeof batchMachine> {
  let [snapshot] = initialTransition(batchMachine, { turn: 1, calls: 3 });
  for (const event of facts) [snapshot] = transition(batchMachine, snapshot, event);
  return snapshot;
}

const ASKED = { type: "PREPARED", undecided: 2 } as const;
const PREPARED = { type: "PREPARED", undecided: 0 } as const;

const CANCELLABLE = { CANCEL: "cancelling [cancelCalls]" };

const BATCH_TABLE: readonly [state: string, facts: readonly BatchFact[], steps: Readonly<Record<string, string>>][] = [
  [
    "preparing",
    [],
    {
      REFUSE: "refusing [refuseCalls]",
      "PREPARED 0": "checkingRepeats [checkRepeats]",
      "PREPARED 2": "awaitingApproval [askApprovals]",
      STORE_LOST: "cancelling [cancelCalls]",
      ...CANCELLABLE,
    },
  ],
  [
    "awaitingApproval",
    [ASKED],
    {
      "DECIDED 0": "checkingRepeats [checkRepeats]",
      "DECIDED 1": "awaitingApproval [askApprovals]",
      ...CANCELLABLE,
    },
  ],
  ["checkingRepeats", [PREPARED], { CHECKED: "planning [planEpochs]", ...CANCELLABLE }],
  ["checkingRepeats", [ASKED, { type: "DECIDED", undecided: 0 }], { CHECKED: "planning [planEpochs]", ...CANCELLABLE }],
  [
    "planning",
    [PREPARED, { type: "CHECKED" }],
    {
      "PLANNED 0": "settled [settled]",
      "PLANNED 2": "runningEpoch [startEpoch]",
      ...CANCELLABLE,
    },
  ],
  ["refusing", [{ type: "REFUSE" }], { CALLS_SETTLED: "refused [settled]" }],
  ["cancelling", [{ type: "CANCEL" }], { CALLS_SETTLED: "cancelled [settled]" }],
  ["cancelling", [ASKED, { type: "CANCEL" }], { CALLS_SETTLED: "cancelled [settled]" }],
];

describe("the batch chart", () => {
  it("PREP-1: begins by having its calls prepared", () => {
    const [snapshot, actions] = initialTransition(batchMachine, { turn: 1, calls: 3 });
    expect([nameOf(snapshot.value), effectsOf(actions as never)]).toEqual(["preparing", ["prepareCalls"]]);
  });

  it.each(BATCH_TABLE)(
    "APP-1, PREP-9, PREP-12: in %s (after %j) takes exactly its own steps",
    (state, facts, steps) => {
      const from = batchAfter(...facts);
      expect(nameOf(from.value)).toBe(state);
      const taken = BATCH_EVENTS.map((event) => [labelOf(event), stepOf(batchMachine, from, event)]);
      expect(Object.fromEntries(taken.filter(([, step]) => step !== "-"))).toEqual(steps);
    },
  );

  it.each([
    ["refused", [{ type: "REFUSE" }, { type: "CALLS_SETTLED" }]],
    ["cancelled", [{ type: "CANCEL" }, { type: "CALLS_SETTLED" }]],
    ["settled", [PREPARED, { type: "CHECKED" }, { type: "PLANNED", epochs: 0 }]],
  ] as const)("CAN-4: once %s takes nothing more", (state, facts) => {
    const from = batchAfter(...facts);
    expect([nameOf(from.value), from.status]).toEqual([state, "done"]);
    expect(BATCH_EVENTS.map((event) => stepOf(batchMachine, from, event))).toEqual(BATCH_EVENTS.map(() => "-"));
  });

  it("APP-1: remembers how many answers it waits for", () => {
    expect(batchAfter(ASKED).context.undecided).toBe(2);
    expect(batchAfter(ASKED, { type: "DECIDED", undecided: 1 }).context.undecided).toBe(1);
  });
});
