import { runMachine } from "toolkernel/machines";
import type { ChartModel, Fact } from "./chart-paths.ts";

/** The id of the run. */
export const RUN_ID = "run";

interface Memory {
  /** Turns that have had their response, at most one. */
  readonly turns: number;
  readonly hasCalls: boolean;
  readonly isCancelled: boolean;
}

type ClosedBy = "projectionFailed" | "exactToolRepeat" | "allTerminate" | "stopReason" | "maxToolCalls";

/** What a turn came to. */
export interface TurnOver {
  readonly hasCalls: boolean;
  readonly hasModelFailed: boolean;
  readonly closedBy: ClosedBy | undefined;
  readonly shouldStop: boolean;
  readonly hasSteering: boolean;
  readonly hasFollowUp: boolean;
}

const BOTH = [false, true];

/** Everything that can be known of a turn when it is over, as far as it fits together. */
const TURNS: readonly TurnOver[] = BOTH.flatMap((shouldStop) =>
  BOTH.flatMap((hasSteering) =>
    BOTH.flatMap((hasFollowUp) => {
      const asked = { shouldStop, hasSteering, hasFollowUp };
      const closers: readonly (ClosedBy | undefined)[] = [
        undefined,
        "projectionFailed",
        "exactToolRepeat",
        "allTerminate",
        "maxToolCalls",
      ];
      return [
        { hasCalls: false, hasModelFailed: false, closedBy: undefined, ...asked },
        { hasCalls: false, hasModelFailed: true, closedBy: undefined, ...asked },
        { hasCalls: true, hasModelFailed: true, closedBy: "stopReason" as const, ...asked },
        ...closers.map((closedBy) => ({ hasCalls: true, hasModelFailed: false, closedBy, ...asked })),
      ];
    }),
  ),
);

/** The chart of a run. */
export const RUN_MODEL: ChartModel<Memory> = {
  name: "run",
  machine: runMachine,
  input: { runId: RUN_ID },
  facts: [
    { type: "BEGIN" },
    { type: "RESUME" },
    { type: "CLOSE_TURN" },
    { type: "READY" },
    ...["maxMessages", "maxTurns", "maxTotalTokens"].map((limit) => ({ type: "LIMIT_REACHED", limit })),
    { type: "RESPONDED", hasCalls: true },
    { type: "RESPONDED", hasCalls: false },
    ...["modelError", "modelTimeout", "invalidResponse"].map((endedBy) => ({ type: "MODEL_FAILED", endedBy })),
    { type: "BATCH_SETTLED" },
    { type: "APPROVALS_ASKED" },
    ...TURNS.map((turn) => ({ type: "TURN_OVER", ...turn })),
    { type: "FAULTED" },
    { type: "CANCEL" },
  ],
  memory: { turns: 0, hasCalls: false, isCancelled: false },
  allows: ({ memory }, fact) => {
    switch (fact.type) {
      case "CANCEL":
        return !memory.isCancelled;
      case "LIMIT_REACHED":
        // The room for messages is short before the first turn, the others pass their limit in it.
        return (memory.turns === 0) === (fact.limit === "maxMessages");
      case "RESPONDED":
        return memory.turns === 0; // one turn with a response is enough, and what it comes to is read ahead
      case "TURN_OVER":
        return fact.hasCalls === memory.hasCalls && (memory.turns === 0 || isPlain(fact));
      default:
        return true;
    }
  },
  remember: ({ memory }, { type, hasCalls }) => ({
    turns: ["TURN_OVER", "RESUME", "CLOSE_TURN"].includes(type) ? 1 : memory.turns,
    // A resumed run goes on with the calls of the turn that was open.
    hasCalls:
      type === "RESUME" || type === "CLOSE_TURN" || (type === "RESPONDED" ? hasCalls === true : memory.hasCalls),
    isCancelled: memory.isCancelled || type === "CANCEL",
  }),
};

function isPlain({ closedBy, hasModelFailed }: Fact): boolean {
  return closedBy === undefined && hasModelFailed === false;
}
