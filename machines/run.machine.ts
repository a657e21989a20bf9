import { assign, emit, setup } from "xstate";
import type { ClosedBy } from "../src/domain/batch.ts";

/** What a run actor is started with. */
export interface RunInput {
  readonly runId: string;
}

/** What the chart remembers. */
export interface RunContext extends RunInput {
  /** What ended the run, by its name in the run's result. */
  readonly endedBy: string | undefined;
}

/** What is known when a turn is over; the chart decides what follows from it (RUN-2). */
export interface TurnFacts {
  /** Whether the model asked for tools. */
  readonly hasCalls: boolean;
  /** Whether the response ended in an error of the model or provider (PREP-10). */
  readonly hasModelFailed: boolean;
  /** What closed the batch, if anything did. */
  readonly closedBy: ClosedBy | undefined;
  /** What the host's `shouldStopAfterTurn` said. */
  readonly shouldStop: boolean;
  readonly hasSteering: boolean;
  readonly hasFollowUp: boolean;
}

/** The facts a run is told. */
export type RunEvent =
  | { readonly type: "BEGIN" }
  | { readonly type: "RESUME" }
  | { readonly type: "CLOSE_TURN" }
  | { readonly type: "READY" }
  | { readonly type: "LIMIT_REACHED"; readonly limit: string }
  | { readonly type: "RESPONDED"; readonly hasCalls: boolean }
  | { readonly type: "MODEL_FAILED"; readonly endedBy: "modelError" | "modelTimeout" | "invalidResponse" }
  | { readonly type: "BATCH_SETTLED" }
  | { readonly type: "APPROVALS_ASKED" }
  | ({ readonly type: "TURN_OVER" } & TurnFacts)
  | { readonly type: "FAULTED" }
  | { readonly type: "CANCEL" };

/** What the driver is asked to do. */
export type RunEmitted =
  | { readonly type: "prepareTurn" }
  | { readonly type: "requestModel" }
  | { readonly type: "stopModel" }
  | { readonly type: "executeBatch" }
  | { readonly type: "cancelBatch" }
  | { readonly type: "haltBatch" }
  | { readonly type: "closeTurn" }
  | { readonly type: "deliverSteering" }
  | { readonly type: "deliverFollowUps" }
  | { readonly type: "settled" };

/**
 * The loop: model request, batch, results, next request, until the model answers without calls, the batch
 * closes, a limit, an abort or an error. Final states are the statuses of a run. Rules: RUN-1 to RUN-4,
 * PROJ-5, REP-5, APP-1, CAN-1.
 */
export const runMachine = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent,
    input: {} as RunInput,
    emitted: {} as RunEmitted,
  },
  guards: {
    hasCalls: ({ event }) => event.type === "RESPONDED" && event.hasCalls,
    isProjectionFailed: ({ event }) => event.type === "TURN_OVER" && event.closedBy === "projectionFailed",
    hasModelFailed: ({ event }) => event.type === "TURN_OVER" && event.hasModelFailed,
    isPastToolCalls: ({ event }) => event.type === "TURN_OVER" && event.closedBy === "maxToolCalls",
    shouldStop: ({ event }) => event.type === "TURN_OVER" && event.shouldStop,
    hasSteering: ({ event }) => event.type === "TURN_OVER" && event.hasSteering,
    isLoopOpen: ({ event }) => event.type === "TURN_OVER" && event.hasCalls && event.closedBy === undefined,
    hasFollowUp: ({ event }) => event.type === "TURN_OVER" && event.hasFollowUp,
    isRepeatTerminated: ({ event }) => event.type === "TURN_OVER" && event.closedBy === "exactToolRepeat",
    isEveryResultTerminating: ({ event }) => event.type === "TURN_OVER" && event.closedBy === "allTerminate",
  },
  actions: {
    noteLimit: assign({
      endedBy: ({ context, event }) => (event.type === "LIMIT_REACHED" ? event.limit : context.endedBy),
    }),
    noteModelFailure: assign({
      endedBy: ({ event }) => (event.type === "MODEL_FAILED" ? event.endedBy : "modelError"),
    }),
    noteToolCalls: assign({ endedBy: "maxToolCalls" }),
    noteProjectionFailed: assign({ endedBy: "projectionFailed" }),
    noteShouldStop: assign({ endedBy: "shouldStop" }),
    noteRepeat: assign({ endedBy: "exactToolRepeat" }),
    noteAllTerminate: assign({ endedBy: "allTerminate" }),
    noteNoCalls: assign({ endedBy: "noCalls" }),
    noteAbort: assign({ endedBy: "abort" }),
    prepareTurn: emit({ type: "prepareTurn" }),
    requestModel: emit({ type: "requestModel" }),
    stopModel: emit({ type: "stopModel" }),
    executeBatch: emit({ type: "executeBatch" }),
    cancelBatch: emit({ type: "cancelBatch" }),
    haltBatch: emit({ type: "haltBatch" }),
    closeTurn: emit({ type: "closeTurn" }),
    deliverSteering: emit({ type: "deliverSteering" }),
    deliverFollowUps: emit({ type: "deliverFollowUps" }),
    announceSettled: emit({ type: "settled" }),
  },
}).createMachine({
  id: "run",
  description: "Model request, batch, results, next request, until something ends it.",
  context: ({ input }) => ({ runId: input.runId, endedBy: undefined }),
  initial: "starting",
  states: {
    starting: {
      description: "A new run begins with a request, a resumed one where it was left (APP-3, RUN-6).",
      on: { BEGIN: "preparingTurn", RESUME: "executingBatch", CLOSE_TURN: "closingTurn" },
    },
    preparingTurn: {
      description: "Limits are checked and the host may prepare the request (RUN-1).",
      entry: "prepareTurn",
      on: {
        READY: "requestingModel",
        LIMIT_REACHED: { target: "limitExceeded", actions: "noteLimit" },
        FAULTED: "kernelError",
        CANCEL: { target: "aborted", actions: "noteAbort" },
      },
    },
    requestingModel: {
      description: "The model answers, streaming or at once, within its time-out.",
      entry: "requestModel",
      exit: "stopModel",
      on: {
        RESPONDED: [{ guard: "hasCalls", target: "executingBatch" }, { target: "closingTurn" }],
        MODEL_FAILED: { target: "providerError", actions: "noteModelFailure" },
        FAULTED: "kernelError",
        CANCEL: { target: "aborted", actions: "noteAbort" },
      },
    },
    executingBatch: {
      description: "The calls of the response run by the batch's own chart.",
      entry: "executeBatch",
      on: {
        BATCH_SETTLED: "closingTurn",
        APPROVALS_ASKED: "awaitingApproval",
        FAULTED: "haltingBatch",
        CANCEL: "abortingBatch",
      },
    },
    haltingBatch: {
      description: "Steps can no longer be recorded: running calls end, then the run does (CAN-5).",
      entry: "haltBatch",
      on: { BATCH_SETTLED: "kernelError" },
    },
    abortingBatch: {
      description: "The batch settles every call, then the run ends (CAN-1).",
      entry: "cancelBatch",
      on: { BATCH_SETTLED: { target: "aborted", actions: "noteAbort" }, FAULTED: "haltingBatch" },
    },
    closingTurn: {
      description: "What follows: end, steering, the next request, follow-ups, in this precedence (RUN-2, RUN-3).",
      entry: "closeTurn",
      on: {
        TURN_OVER: [
          { guard: "isProjectionFailed", target: "stopped", actions: "noteProjectionFailed" },
          { guard: "hasModelFailed", target: "providerError", actions: "noteModelFailure" },
          { guard: "isPastToolCalls", target: "limitExceeded", actions: "noteToolCalls" },
          { guard: "shouldStop", target: "stopped", actions: "noteShouldStop" },
          { guard: "hasSteering", target: "preparingTurn", actions: "deliverSteering" },
          { guard: "isLoopOpen", target: "preparingTurn" },
          { guard: "hasFollowUp", target: "preparingTurn", actions: "deliverFollowUps" },
          { guard: "isRepeatTerminated", target: "stopped", actions: "noteRepeat" },
          { guard: "isEveryResultTerminating", target: "completed", actions: "noteAllTerminate" },
          { target: "completed", actions: "noteNoCalls" },
        ],
        FAULTED: "kernelError",
        CANCEL: { target: "aborted", actions: "noteAbort" },
      },
    },
    completed: { type: "final", entry: "announceSettled" },
    stopped: { type: "final", entry: "announceSettled" },
    aborted: { type: "final", entry: "announceSettled" },
    limitExceeded: { type: "final", entry: "announceSettled" },
    providerError: {
      description: "The model or its provider failed; nothing the kernel or a tool did.",
      type: "final",
      entry: "announceSettled",
    },
    kernelError: {
      description: "A hook of the run, or a store, failed.",
      type: "final",
      entry: "announceSettled",
    },
    awaitingApproval: {
      description: "Ends the run for this process; it goes on when the approvals are answered (APP-1).",
      type: "final",
      entry: "announceSettled",
    },
  },
});
