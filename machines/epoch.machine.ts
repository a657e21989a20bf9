import { assign, emit, setup } from "xstate";

/** What an epoch actor is started with. */
export interface EpochInput {
  /** Place of the epoch in its batch, first 0. */
  readonly epoch: number;
  /** How many calls it holds, at least one. */
  readonly calls: number;
}

/** What the chart remembers: how many of its calls have no result yet. */
export interface EpochContext extends EpochInput {
  readonly open: number;
}

/** The facts an epoch is told. */
export type EpochEvent =
  | { readonly type: "START" }
  | { readonly type: "CALL_SETTLED" }
  | { readonly type: "LANE_FREED" }
  | { readonly type: "HALT" }
  | { readonly type: "CANCEL" };

/** What the driver is asked to do. */
export type EpochEmitted =
  | { readonly type: "admitCalls" }
  | { readonly type: "haltCalls" }
  | { readonly type: "cancelCalls" }
  | { readonly type: "settled" };

/**
 * One epoch: its calls may overlap, up to the cap and their conflict keys; it settles when all of them
 * have. After a cancellation it starts nothing more. Rules: EPOCH-2 to EPOCH-5, UNC-5, CAN-1.
 */
export const epochMachine = setup({
  types: {
    context: {} as EpochContext,
    events: {} as EpochEvent,
    input: {} as EpochInput,
    emitted: {} as EpochEmitted,
  },
  guards: {
    isLastCall: ({ context }) => context.open === 1,
  },
  actions: {
    countSettled: assign({ open: ({ context }) => context.open - 1 }),
    admitCalls: emit({ type: "admitCalls" }),
    haltCalls: emit({ type: "haltCalls" }),
    cancelCalls: emit({ type: "cancelCalls" }),
    announceSettled: emit({ type: "settled" }),
  },
}).createMachine({
  id: "epoch",
  description: "Calls that may overlap, up to the cap and their conflict keys.",
  context: ({ input }) => ({ epoch: input.epoch, calls: input.calls, open: input.calls }),
  initial: "waiting",
  states: {
    waiting: {
      description: "Its calls are judged against uncertain writes and join their lanes (UNC-5).",
      on: { START: "running" },
    },
    running: {
      description: "Whenever a slot is free and a call is startable, it is started (EPOCH-5).",
      entry: "admitCalls",
      on: {
        CALL_SETTLED: [
          { guard: "isLastCall", target: "settled", actions: "countSettled" },
          { actions: ["countSettled", "admitCalls"] },
        ],
        LANE_FREED: { actions: "admitCalls" },
        HALT: "halting",
        CANCEL: "draining",
      },
    },
    halting: {
      description: "Steps can no longer be recorded: nothing more is started, running calls end by themselves (CAN-5).",
      entry: "haltCalls",
      on: {
        CALL_SETTLED: [
          { guard: "isLastCall", target: "settled", actions: "countSettled" },
          { actions: "countSettled" },
        ],
        CANCEL: "draining",
      },
    },
    draining: {
      description: "Cancelled: nothing more is started; running calls settle (CAN-1).",
      entry: "cancelCalls",
      on: {
        CALL_SETTLED: [
          { guard: "isLastCall", target: "settled", actions: "countSettled" },
          { actions: "countSettled" },
        ],
      },
    },
    settled: {
      description: "Every call of the epoch has its result; the next epoch may start (EPOCH-2).",
      type: "final",
      entry: "announceSettled",
    },
  },
});
