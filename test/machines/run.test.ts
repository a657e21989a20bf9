import { runMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import type { RunEvent, TurnFacts } from "../../machines/run.machine.ts";
import type { ClosedBy } from "../../src/domain/batch.ts";
import { nameOf, stepOf } from "./chart-steps.ts";

type RunSnapshot = SnapshotFrom<typeof runMachine>;

const OVER: TurnFacts = {
  hasCalls: true,
  hasModelFailed: false,
  closedBy: undefined,
  shouldStop: false,
  hasSteering: false,
  hasFollowUp: false,
};
const RESPONDED: RunEvent = { type: "RESPONDED", hasCalls: true };

/** Every fact that a run can be told, each in one form. */
const EVENTS: readonly RunEvent[] = [
  ...(["BEGIN", "RESUME", "CLOSE_TURN", "READY", "BATCH_SETTLED", "APPROVALS_ASKED", "FAULTED", "CANCEL"] as const).map(
    (type): RunEvent => ({ type }),
  ),
  { type: "LIMIT_REACHED", limit: "maxTurns" },
  RESPONDED,
  { type: "MODEL_FAILED", endedBy: "modelTimeout" },
  { type: "TURN_OVER", ...OVER },
];

const TO_REQUEST: readonly RunEvent[] = [{ type: "BEGIN" }, { type: "READY" }];
const TO_BATCH: readonly RunEvent[] = [...TO_REQUEST, RESPONDED];
const TO_CLOSING: readonly RunEvent[] = [...TO_BATCH, { type: "BATCH_SETTLED" }];

/** Where each state is reached, and every step from it; a fact that is not named changes nothing there. */
const TABLE: readonly (readonly [
  state: string,
  facts: readonly RunEvent[],
  steps: Readonly<Record<string, string>>,
])[] = [
  [
    "starting",
    [],
    {
      BEGIN: "preparingTurn [prepareTurn]",
      RESUME: "executingBatch [executeBatch]",
      CLOSE_TURN: "closingTurn [closeTurn]",
    },
  ],
  [
    "preparingTurn",
    [{ type: "BEGIN" }],
    {
      READY: "requestingModel [requestModel]",
      LIMIT_REACHED: "limitExceeded [settled]",
      FAULTED: "kernelError [settled]",
      CANCEL: "aborted [settled]",
    },
  ],
  [
    "requestingModel",
    TO_REQUEST,
    {
      RESPONDED: "executingBatch [stopModel,executeBatch]",
      MODEL_FAILED: "providerError [stopModel,settled]",
      FAULTED: "kernelError [stopModel,settled]",
      CANCEL: "aborted [stopModel,settled]",
    },
  ],
  [
    "executingBatch",
    TO_BATCH,
    {
      BATCH_SETTLED: "closingTurn [closeTurn]",
      APPROVALS_ASKED: "awaitingApproval [settled]",
      FAULTED: "haltingBatch [haltBatch]",
      CANCEL: "abortingBatch [cancelBatch]",
    },
  ],
  ["haltingBatch", [...TO_BATCH, { type: "FAULTED" }], { BATCH_SETTLED: "kernelError [settled]" }],
  [
    "abortingBatch",
    [...TO_BATCH, { type: "CANCEL" }],
    { BATCH_SETTLED: "aborted [settled]", FAULTED: "haltingBatch [haltBatch]" },
  ],
  [
    "closingTurn",
    TO_CLOSING,
    {
      TURN_OVER: "preparingTurn [prepareTurn]",
      FAULTED: "kernelError [settled]",
      CANCEL: "aborted [settled]",
    },
  ],
];

/** Leads a run through facts, from its beginning. */
function runAfter(facts: readonly RunEvent[]): RunSnapshot {
  let [snapshot] = initialTransition(runMachine, { runId: "run" });
  for (const fact of facts) [snapshot] = transition(runMachine, snapshot, fact);
  return snapshot;
}

/** Where a run ends, and by what. */
function endAfter(...facts: readonly RunEvent[]): string {
  const { value, status, context } = runAfter(facts);
  return status === "done" ? `${String(value)} by ${context.endedBy}` : `${String(value)} goes on`;
}

const over = (facts: Partial<TurnFacts>): RunEvent => ({ type: "TURN_OVER", ...OVER, ...facts });

describe("the chart of a run", () => {
  it.each(TABLE)("RUN-1, RUN-2, RUN-4: in %s takes these facts and no others", (state, facts, expected) => {
    const from = runAfter(facts);
    expect(nameOf(from.value)).toBe(state);
    const steps = EVENTS.map((event) => [event.type, stepOf(runMachine, from, event)] as const);
    expect(Object.fromEntries(steps.filter(([, step]) => step !== "-"))).toEqual(expected);
  });

  it("RUN-4: has its final states for statuses, and a row here for every other state", () => {
    const states = Object.entries(runMachine.config.states ?? {});
    expect(states.filter(([, { type }]) => type === "final").map(([name]) => name)).toEqual([
      ...["completed", "stopped", "aborted", "limitExceeded", "providerError", "kernelError", "awaitingApproval"],
    ]);
    expect(states.filter(([, { type }]) => type !== "final").map(([name]) => name)).toEqual(
      TABLE.map(([name]) => name),
    );
    const edges = states.flatMap(([, { on }]) => Object.keys(on ?? {}));
    expect([...new Set(edges)].sort()).toEqual(EVENTS.map(({ type }) => type).sort());
  });

  it("RUN-1: a response without calls closes its turn, one with calls runs them first", () => {
    expect(stepOf(runMachine, runAfter(TO_REQUEST), { type: "RESPONDED", hasCalls: false })).toBe(
      "closingTurn [stopModel,closeTurn]",
    );
  });

  it("RUN-4: names what ended it", () => {
    expect([
      endAfter({ type: "BEGIN" }, { type: "LIMIT_REACHED", limit: "maxMessages" }),
      endAfter(...TO_REQUEST, { type: "MODEL_FAILED", endedBy: "modelTimeout" }),
      endAfter(...TO_REQUEST, { type: "MODEL_FAILED", endedBy: "invalidResponse" }),
      endAfter({ type: "BEGIN" }, { type: "CANCEL" }),
      endAfter(...TO_REQUEST, { type: "CANCEL" }),
      endAfter(...TO_BATCH, { type: "CANCEL" }, { type: "BATCH_SETTLED" }),
      ...[endAfter(...TO_CLOSING, { type: "CANCEL" }), endAfter({ type: "BEGIN" }, { type: "FAULTED" })],
      endAfter(...TO_BATCH, { type: "FAULTED" }, { type: "BATCH_SETTLED" }),
      endAfter(...TO_BATCH, { type: "APPROVALS_ASKED" }),
    ]).toEqual([
      ...["limitExceeded by maxMessages", "providerError by modelTimeout", "providerError by invalidResponse"],
      ...["aborted by abort", "aborted by abort", "aborted by abort", "aborted by abort"],
      ...["kernelError by undefined", "kernelError by undefined", "awaitingApproval by undefined"],
    ]);
  });

  it("CAN-5: an abort whose steps can no longer be recorded ends as kernelError", () => {
    const facts = [{ type: "CANCEL" }, { type: "FAULTED" }, { type: "BATCH_SETTLED" }] as const;
    expect(endAfter(...TO_BATCH, ...facts)).toBe("kernelError by undefined");
  });

  it("APP-3: a resumed run begins with its batch, and can wait again", () => {
    expect(endAfter({ type: "RESUME" }, { type: "APPROVALS_ASKED" })).toBe("awaitingApproval by undefined");
    expect(endAfter({ type: "RESUME" }, { type: "BATCH_SETTLED" }, over({}), { type: "READY" })).toBe(
      "requestingModel goes on",
    );
  });
});

/** Every combination of what can be known when a turn is over. */
function everyTurn(): TurnFacts[] {
  const flags = [false, true];
  const closers: (ClosedBy | undefined)[] = [
    ...([undefined, "projectionFailed", "exactToolRepeat", "allTerminate", "maxToolCalls"] as const),
  ];
  return closers.flatMap((closedBy) =>
    flags.flatMap((hasCalls) =>
      flags.flatMap((hasModelFailed) =>
        flags.flatMap((shouldStop) =>
          flags.flatMap((hasSteering) =>
            flags.map((hasFollowUp) => ({ closedBy, hasCalls, hasModelFailed, shouldStop, hasSteering, hasFollowUp })),
          ),
        ),
      ),
    ),
  );
}

/** What follows a turn by the words of the rules, each with what it comes before. */
function followsBy(facts: TurnFacts): string {
  const { closedBy } = facts;
  // PROJ-5: whatever its siblings returned and whatever is queued.
  if (closedBy === "projectionFailed") return "stopped by projectionFailed";
  // PREP-10: after an error or abort of the provider the loop ends.
  if (facts.hasModelFailed) return "providerError by modelError";
  // RUN-1: the run ends limitExceeded.
  if (closedBy === "maxToolCalls") return "limitExceeded by maxToolCalls";
  // RUN-2: queued messages come back undelivered.
  if (facts.shouldStop) return "stopped by shouldStop";
  // RUN-3: steering at the next turn boundary, whether or not the batch has closed the loop (RUN-2).
  if (facts.hasSteering) return "preparingTurn [deliverSteering,prepareTurn]";
  if (facts.hasCalls && closedBy === undefined) return "preparingTurn [prepareTurn]";
  // RUN-3: follow-ups when the loop would end.
  if (facts.hasFollowUp) return "preparingTurn [deliverFollowUps,prepareTurn]";
  if (closedBy === "exactToolRepeat") return "stopped by exactToolRepeat";
  return closedBy === "allTerminate" ? "completed by allTerminate" : "completed by noCalls";
}

describe("what follows a turn", () => {
  it("RUN-2, RUN-3, PROJ-5, REP-5: is what the rules say, for every combination of facts", () => {
    const closing = runAfter(TO_CLOSING);
    const turns = everyTurn();
    expect(turns).toHaveLength(5 * 2 ** 5);
    for (const facts of turns) {
      const [next] = transition(runMachine, closing, { type: "TURN_OVER", ...facts });
      const isOver = next.status === "done";
      const step = isOver
        ? `${String(next.value)} by ${next.context.endedBy}`
        : stepOf(runMachine, closing, over(facts));
      expect({ facts, step }).toEqual({ facts, step: followsBy(facts) });
    }
  });

  it.each<readonly [string, Partial<TurnFacts>, string]>([
    [
      "a failed projection, though steering is queued",
      { closedBy: "projectionFailed", hasSteering: true },
      "stopped by projectionFailed",
    ],
    [
      "a failed projection, though a follow-up is queued",
      { closedBy: "projectionFailed", hasFollowUp: true },
      "stopped by projectionFailed",
    ],
    ["an exact repeat", { closedBy: "exactToolRepeat" }, "stopped by exactToolRepeat"],
    ["an exact repeat with steering", { closedBy: "exactToolRepeat", hasSteering: true }, "preparingTurn goes on"],
    ["an exact repeat with a follow-up", { closedBy: "exactToolRepeat", hasFollowUp: true }, "preparingTurn goes on"],
    ["terminating results", { closedBy: "allTerminate" }, "completed by allTerminate"],
    ["terminating results with steering", { closedBy: "allTerminate", hasSteering: true }, "preparingTurn goes on"],
    ["an answer", { hasCalls: false }, "completed by noCalls"],
    ["an answer with a follow-up", { hasCalls: false, hasFollowUp: true }, "preparingTurn goes on"],
    [
      "a stop by the host, though everything is queued",
      { shouldStop: true, hasSteering: true, hasFollowUp: true },
      "stopped by shouldStop",
    ],
    ["results, though a follow-up is queued", { hasFollowUp: true }, "preparingTurn goes on"],
  ])("RUN-2: %s", (_what, facts, expected) => {
    expect(endAfter(...TO_CLOSING, over(facts))).toBe(expected);
  });
});
