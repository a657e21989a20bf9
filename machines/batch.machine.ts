import { assign, emit, setup } from "xstate";

/** What a batch actor is started with. */
export interface BatchInput {
  readonly turn: number;
  /** How many calls the response holds; may be 0. */
  readonly calls: number;
}

/** What the chart remembers. */
export interface BatchContext extends BatchInput {
  /** Approvals that nobody has answered yet. */
  readonly undecided: number;
  /** How many epochs were planned. */
  readonly epochs: number;
  /** The epoch that runs, first 0. */
  readonly epoch: number;
}

/** The facts a batch is told. */
export type BatchEvent =
  | { readonly type: "REFUSE" }
  | { readonly type: "PREPARED"; readonly undecided: number }
  | { readonly type: "DECIDED"; readonly undecided: number }
  | { readonly type: "CHECKED" }
  | { readonly type: "PLANNED"; readonly epochs: number }
  | { readonly type: "EPOCH_SETTLED" }
  | { readonly type: "CALLS_SETTLED" }
  | { readonly type: "STORE_LOST" }
  | { readonly type: "CANCEL" };

/** What the driver is asked to do. */
export type BatchEmitted =
  | { readonly type: "prepareCalls" }
  | { readonly type: "refuseCalls" }
  | { readonly type: "askApprovals" }
  | { readonly type: "checkRepeats" }
  | { readonly type: "planEpochs" }
  | { readonly type: "startEpoch"; readonly epoch: number }
  | { readonly type: "haltEpoch" }
  | { readonly type: "cancelEpoch" }
  | { readonly type: "cancelCalls" }
  | { readonly type: "settled" };

/**
 * All tool calls of one model response: prepared, decided, checked for repeats, planned, then run epoch
 * by epoch. Rules: PREP-1, PREP-9, PREP-10, PREP-12, APP-1, REP-2, EPOCH-2, CAN-1.
 */
export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    events: {} as BatchEvent,
    input: {} as BatchInput,
    emitted: {} as BatchEmitted,
  },
  guards: {
    isSomethingUndecided: ({ event }) => (event.type === "PREPARED" || event.type === "DECIDED") && event.undecided > 0,
    isSomethingPlanned: ({ event }) => event.type === "PLANNED" && event.epochs > 0,
    hasNextEpoch: ({ context }) => context.epoch + 1 < context.epochs,
  },
  actions: {
    noteUndecided: assign({
      undecided: ({ context, event }) =>
        event.type === "PREPARED" || event.type === "DECIDED" ? event.undecided : context.undecided,
    }),
    notePlan: assign({ epochs: ({ context, event }) => (event.type === "PLANNED" ? event.epochs : context.epochs) }),
    advanceEpoch: assign({ epoch: ({ context }) => context.epoch + 1 }),
    prepareCalls: emit({ type: "prepareCalls" }),
    refuseCalls: emit({ type: "refuseCalls" }),
    askApprovals: emit({ type: "askApprovals" }),
    checkRepeats: emit({ type: "checkRepeats" }),
    planEpochs: emit({ type: "planEpochs" }),
    startEpoch: emit(({ context }) => ({ type: "startEpoch" as const, epoch: context.epoch })),
    haltEpoch: emit({ type: "haltEpoch" }),
    cancelEpoch: emit({ type: "cancelEpoch" }),
    cancelCalls: emit({ type: "cancelCalls" }),
    announceSettled: emit({ type: "settled" }),
  },
}).createMachine({
  id: "batch",
  description: "All tool calls of one model response.",
  context: ({ input }) => ({ turn: input.turn, calls: input.calls, undecided: 0, epochs: 0, epoch: 0 }),
  initial: "preparing",
  states: {
    preparing: {
      description: "Every call is prepared, in source order, before any is dispatched (PREP-1, PREP-2).",
      entry: "prepareCalls",
      on: {
        REFUSE: "refusing",
        PREPARED: [
          { guard: "isSomethingUndecided", target: "awaitingApproval", actions: "noteUndecided" },
          { target: "checkingRepeats" },
        ],
        STORE_LOST: "cancelling",
        CANCEL: "cancelling",
      },
    },
    awaitingApproval: {
      description: "Nothing of the batch is dispatched until every ask is decided (APP-1).",
      entry: "askApprovals",
      on: {
        DECIDED: [
          { guard: "isSomethingUndecided", target: "awaitingApproval", reenter: true, actions: "noteUndecided" },
          { target: "checkingRepeats", actions: "noteUndecided" },
        ],
        CANCEL: "cancelling",
      },
    },
    checkingRepeats: {
      description: "Exact repeats are counted after preparation and before dispatch (REP-2).",
      entry: "checkRepeats",
      on: { CHECKED: "planning", CANCEL: "cancelling" },
    },
    planning: {
      description: "Prepared calls are split into ordered epochs (EPOCH-2).",
      entry: "planEpochs",
      on: {
        PLANNED: [{ guard: "isSomethingPlanned", target: "runningEpoch", actions: "notePlan" }, { target: "settled" }],
        CANCEL: "cancelling",
      },
    },
    runningEpoch: {
      description: "One epoch at a time; the next starts when every call of this one has settled (EPOCH-2).",
      entry: "startEpoch",
      on: {
        EPOCH_SETTLED: [
          { guard: "hasNextEpoch", target: "runningEpoch", reenter: true, actions: "advanceEpoch" },
          { target: "settled" },
        ],
        STORE_LOST: "haltingEpoch",
        CANCEL: "drainingEpoch",
      },
    },
    haltingEpoch: {
      description: "Steps can no longer be recorded: running calls end, nothing more is dispatched (CAN-5).",
      entry: "haltEpoch",
      on: { EPOCH_SETTLED: "cancelling", CANCEL: "drainingEpoch" },
    },
    drainingEpoch: {
      description: "Cancelled: the current epoch settles, no later one ever starts (CAN-1).",
      entry: "cancelEpoch",
      on: { EPOCH_SETTLED: "cancelling" },
    },
    refusing: {
      description: "The whole response is refused; every call gets its error result (PREP-9, PREP-10).",
      entry: "refuseCalls",
      on: { CALLS_SETTLED: "refused" },
    },
    cancelling: {
      description: "Every call that had not been dispatched settles as cancelled (PREP-12, CAN-1).",
      entry: "cancelCalls",
      on: { CALLS_SETTLED: "cancelled" },
    },
    settled: { type: "final", entry: "announceSettled" },
    refused: { type: "final", entry: "announceSettled" },
    cancelled: { type: "final", entry: "announceSettled" },
  },
});
