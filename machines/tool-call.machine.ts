import { assign, emit, setup } from "xstate";
import type { ToolCallContext, ToolCallEmitted, ToolCallEvent, ToolCallInput } from "./tool-call-facts.ts";

/**
 * One tool call, from the model's draft to its one result. States say where the call is; final states
 * are named after the outcomes. Rules: PREP-1, PREP-4, PREP-6, PREP-12, APP-1, EPOCH-2, EPOCH-4, UNC-1,
 * UNC-5, UNC-7, CAN-1 to CAN-3, REP-5, RUN-6.
 */
export const toolCallMachine = setup({
  types: {
    context: {} as ToolCallContext,
    events: {} as ToolCallEvent,
    input: {} as ToolCallInput,
    emitted: {} as ToolCallEmitted,
    tags: {} as "mayStillStart" | "inFlight" | "settled",
  },
  guards: {
    isToBeRecorded: ({ context }) => context.isRecorded && !context.wasDispatched,
    mayHaveHappened: ({ context }) => context.isWrite && context.wasDispatched,
    isRewritten: ({ context }) => context.isRewritten,
    isRead: ({ context }) => !context.isWrite,
    isReadTimedOut: ({ context }) => !context.isWrite && context.stopCause === "timeout",
    isThrowCertain: ({ context }) => !context.isWrite || !context.throwIsUncertain,
    mayAskRecovery: ({ context }) => context.canRecover && !context.isRunCancelled,
    hasExecutorEnded: ({ context }) => context.hasExecutorEnded,
  },
  actions: {
    noteRewritten: assign({ isRewritten: true }),
    noteTimeout: assign({ stopCause: "timeout" }),
    noteCancelled: assign({ stopCause: ({ context }) => context.stopCause ?? "cancelled", isRunCancelled: true }),
    noteExecutorEnded: assign({ hasExecutorEnded: true }),
    recordDispatch: emit({ type: "recordDispatch" }),
    dispatch: emit({ type: "dispatch" }),
    stopExecutor: emit({ type: "stopExecutor" }),
    askRecovery: emit({ type: "askRecovery" }),
    stopRecovery: emit({ type: "stopRecovery" }),
    finish: emit({ type: "finish" }),
    announceSettled: emit({ type: "settled" }),
  },
}).createMachine({
  id: "toolCall",
  description: "One tool call, from the model's draft to its one result.",
  context: ({ input }) => ({
    callId: input.callId,
    isWrite: input.isWrite,
    throwIsUncertain: input.throwIsUncertain,
    canRecover: input.canRecover,
    isRecorded: input.isRecorded,
    wasDispatched: input.wasDispatched === true,
    isRewritten: false,
    stopCause: undefined,
    isRunCancelled: false,
    hasExecutorEnded: false,
  }),
  initial: "preparing",
  states: {
    preparing: {
      description: "Every call of the batch is prepared before any is dispatched (PREP-1).",
      initial: "lookup",
      on: { REFUSED: "refusing", CANCEL: { target: "cancelled", actions: "noteCancelled" } },
      states: {
        lookup: {
          description: "Find the tool by its exact name and parse the draft (PREP-11).",
          on: { FOUND: "compat" },
        },
        compat: {
          description: "Compatibility steps may reshape the draft, nothing else may (PREP-7).",
          on: { SHAPED: "validating" },
        },
        validating: {
          description: "JSON Schema; rewritten arguments come here again.",
          on: { VALID: [{ guard: "isRewritten", target: "refining" }, { target: "rewriting" }] },
        },
        rewriting: {
          description: "Host policy may keep, replace or refuse the arguments.",
          on: { KEPT: "refining", REWRITTEN: { target: "validating", actions: "noteRewritten" } },
        },
        refining: {
          description: "The schema's own validation, once, then the tool's (PREP-1).",
          on: { REFINED: "resolvingKeys" },
        },
        resolvingKeys: {
          description: "Conflict keys from the final arguments, once (PREP-5).",
          on: { KEYED: "authorizing" },
        },
        authorizing: {
          description: "The last word: allow, refuse or ask, never rewrite (PREP-4).",
          on: { ALLOWED: "#toolCall.authorized", ASKED: "#toolCall.awaitingApproval" },
        },
      },
    },
    awaitingApproval: {
      description: "A person decides; nothing of the batch is dispatched meanwhile (APP-1).",
      on: { GRANTED: "authorized", DENIED: "refusing", CANCEL: { target: "cancelled", actions: "noteCancelled" } },
    },
    refusing: {
      description: "Runs nothing; its result waits for the repeat check (PREP-6, REP-3).",
      on: { CHECKED: "refused", CANCEL: "refused" },
    },
    authorized: {
      description: "May run once the whole batch is prepared, checked for repeats and planned.",
      tags: "mayStillStart",
      on: {
        PLANNED: "barrierWaiting",
        REPEATED: "repeatTerminated",
        CANCEL: [
          { guard: "mayHaveHappened", target: "finishing.uncertain", actions: "noteCancelled" },
          { target: "cancelled", actions: "noteCancelled" },
        ],
      },
    },
    barrierWaiting: {
      description: "Waits until every call of the epoch before has settled (EPOCH-2).",
      tags: "mayStillStart",
      on: {
        EPOCH_STARTED: "laneWaiting",
        CANCEL: [
          { guard: "mayHaveHappened", target: "finishing.uncertain", actions: "noteCancelled" },
          { target: "cancelled", actions: "noteCancelled" },
        ],
      },
    },
    laneWaiting: {
      description: "Waits for all its conflict keys and a slot at once; holds neither (EPOCH-4).",
      tags: "mayStillStart",
      on: {
        ADMITTED: [{ guard: "isToBeRecorded", target: "recording" }, { target: "running" }],
        BLOCKED: "blocked",
        CANCEL: [
          { guard: "mayHaveHappened", target: "finishing.uncertain", actions: "noteCancelled" },
          { target: "cancelled", actions: "noteCancelled" },
        ],
      },
    },
    recording: {
      description: "Admitted; its dispatch becomes durable before the executor is called (RUN-6).",
      tags: "mayStillStart",
      entry: "recordDispatch",
      on: { RECORDED: "running", BLOCKED: "blocked", CANCEL: { target: "cancelled", actions: "noteCancelled" } },
    },
    running: {
      description: "The executor has been called.",
      tags: "inFlight",
      entry: "dispatch",
      on: {
        SUCCEEDED: "finishing.succeeded",
        FAILED: "finishing.failed",
        LOST: [
          { guard: "isRead", target: "finishing.failed" },
          { guard: "mayAskRecovery", target: "recovering", actions: "noteExecutorEnded" },
          { target: "finishing.uncertain", actions: "noteExecutorEnded" },
        ],
        THREW: [
          { guard: "isThrowCertain", target: "finishing.failed" },
          { guard: "mayAskRecovery", target: "recovering", actions: "noteExecutorEnded" },
          { target: "finishing.uncertain", actions: "noteExecutorEnded" },
        ],
        TIMED_OUT: { target: "stopping", actions: "noteTimeout" },
        CANCEL: { target: "stopping", actions: "noteCancelled" },
      },
    },
    stopping: {
      description: "Its signal has fired; what it answers within the grace is the real result (CAN-2).",
      tags: "inFlight",
      entry: "stopExecutor",
      on: {
        SUCCEEDED: "finishing.succeeded",
        FAILED: "finishing.failed",
        LOST: [
          { guard: "isReadTimedOut", target: "finishing.failed" },
          { guard: "isRead", target: "finishing.cancelled" },
          { guard: "mayAskRecovery", target: "recovering", actions: "noteExecutorEnded" },
          { target: "finishing.uncertain", actions: "noteExecutorEnded" },
        ],
        THREW: [
          { guard: "isReadTimedOut", target: "finishing.failed" },
          { guard: "isRead", target: "finishing.cancelled" },
          { guard: "mayAskRecovery", target: "recovering", actions: "noteExecutorEnded" },
          { target: "finishing.uncertain", actions: "noteExecutorEnded" },
        ],
        GRACE_OVER: [
          { guard: "isReadTimedOut", target: "finishing.failed" },
          { guard: "isRead", target: "finishing.cancelled" },
          { guard: "mayAskRecovery", target: "recovering" },
          { target: "finishing.uncertain" },
        ],
        CANCEL: { actions: "noteCancelled" },
      },
    },
    recovering: {
      description: "The tool is asked once what became of the write; lanes and slot are kept (UNC-7).",
      tags: "inFlight",
      entry: "askRecovery",
      on: {
        CONFIRMED: "finishing.succeeded",
        DISPROVED: [{ guard: "hasExecutorEnded", target: "finishing.failed" }, { target: "finishing.uncertain" }],
        UNRESOLVED: "finishing.uncertain",
        EXECUTOR_ENDED: { actions: "noteExecutorEnded" },
        CANCEL: { target: "stoppingRecovery", actions: "noteCancelled" },
      },
    },
    stoppingRecovery: {
      description: "The run was cancelled while the tool was asked; it has the grace to answer (UNC-7).",
      tags: "inFlight",
      entry: "stopRecovery",
      on: {
        CONFIRMED: "finishing.succeeded",
        DISPROVED: [{ guard: "hasExecutorEnded", target: "finishing.failed" }, { target: "finishing.uncertain" }],
        UNRESOLVED: "finishing.uncertain",
        GRACE_OVER: "finishing.uncertain",
        EXECUTOR_ENDED: { actions: "noteExecutorEnded" },
      },
    },
    finishing: {
      description: "The outcome stands; afterToolCall may still shape what the model sees of it (PREP-13).",
      tags: "inFlight",
      entry: "finish",
      initial: "uncertain",
      states: {
        succeeded: { description: "It happened.", on: { FINISHED: "#toolCall.succeeded" } },
        failed: { description: "It did not happen, for certain.", on: { FINISHED: "#toolCall.failed" } },
        cancelled: { description: "A read that did not answer in time.", on: { FINISHED: "#toolCall.cancelled" } },
        uncertain: { description: "A write that may have happened (UNC-1).", on: { FINISHED: "#toolCall.uncertain" } },
      },
    },
    succeeded: { type: "final", tags: "settled", entry: "announceSettled" },
    failed: { type: "final", tags: "settled", entry: "announceSettled" },
    refused: { type: "final", tags: "settled", entry: "announceSettled" },
    blocked: {
      description: "A write that an uncertain one holds back; final, whatever is resolved later (UNC-5).",
      type: "final",
      tags: "settled",
      entry: "announceSettled",
    },
    cancelled: { type: "final", tags: "settled", entry: "announceSettled" },
    uncertain: {
      description: "May have happened; later writes that could touch the same thing are blocked (UNC-2, UNC-3).",
      type: "final",
      tags: "settled",
      entry: "announceSettled",
    },
    repeatTerminated: {
      description: "An exact repeat too many; not dispatched (REP-5).",
      type: "final",
      tags: "settled",
      entry: "announceSettled",
    },
  },
});
