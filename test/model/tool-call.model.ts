import { toolCallMachine } from "toolkernel/machines";
import type { ChartModel, Fact } from "./chart-paths.ts";

/** The time-out of the call in question. */
export const TOOL_TIMEOUT_MS = 60_000;

const FACTS: readonly Fact[] = toolCallMachine.events
  .filter((type) => !type.startsWith("xstate."))
  .map((type) => ({ type }));

/** What the call is of. */
export interface CallInput {
  readonly isWrite: boolean;
  readonly throwIsUncertain: boolean;
  readonly canRecover: boolean;
  readonly isRecorded: boolean;
}

const BOTH = [true, false];

/** The chart of a call, once for every kind of tool it can be of, and for two of them in a run that is recorded. */
export const TOOL_CALL_MODELS: readonly ChartModel[] = [
  ...BOTH.flatMap((isWrite) =>
    BOTH.flatMap((throwIsUncertain) =>
      BOTH.map((canRecover) => modelOf({ isWrite, throwIsUncertain, canRecover, isRecorded: false })),
    ),
  ),
  ...BOTH.map((isWrite) => modelOf({ isWrite, throwIsUncertain: true, canRecover: false, isRecorded: true })),
];

function modelOf(input: CallInput): ChartModel {
  const marks = [
    input.throwIsUncertain ? "" : ", whose throws mean failure",
    input.canRecover ? ", with recover" : "",
    input.isRecorded ? ", recorded" : "",
  ];
  return {
    name: `${input.isWrite ? "write" : "read"}${marks.join("")}`,
    machine: toolCallMachine,
    input: { callId: "subject", ...input },
    facts: FACTS,
    memory: {},
    // Once it is prepared nobody asks any more whether its arguments were rewritten.
    mattering: ({ value, context }) =>
      typeof value === "object" && "preparing" in value ? context : { ...context, isRewritten: "" },
    allows: ({ chart }, { type }) => {
      const { isWrite, isRunCancelled, hasExecutorEnded } = chart.context as CallInput & {
        readonly isRunCancelled: boolean;
        readonly hasExecutorEnded: boolean;
      };
      switch (type) {
        case "BLOCKED":
          return isWrite; // a read is never blocked (UNC-1)
        case "CANCEL":
          return !isRunCancelled; // a batch is cancelled once
        case "EXECUTOR_ENDED":
          return !hasExecutorEnded;
        default:
          return true;
      }
    },
  };
}
