import type { Delta, EventBase, KernelEventKind, KernelEventMap } from "../domain/event.ts";
import type { Message } from "../domain/message.ts";

const CALL = ["callId", "callIndex", "toolName", "operationId", "epoch"] as const;

/**
 * Which fields of an event may be recorded as they are: names, counts, times and flags. What is not
 * named here (arguments, results, reasons, updates, questions, messages, keys) is in no record (OBS-3).
 */
export const RECORDED_FIELDS = {
  runStarted: [],
  runResumed: [],
  turnStarted: [],
  modelRequestStarted: [],
  messageStarted: [],
  messageUpdated: [],
  messageEnded: [],
  messageQueued: ["queue"],
  toolStarted: CALL,
  toolPrepared: CALL,
  toolRefused: [...CALL, "failureCategory"],
  approvalRequested: [...CALL, "approvalId"],
  toolRepeatDetected: [...CALL, "action", "count"],
  epochStarted: ["epoch", "callIds"],
  toolDispatched: [...CALL, "isWrite", "waitedMs", "barrierMs", "keyMs", "queueMs"],
  toolProgressed: CALL,
  toolBlocked: [...CALL, "blockedBy"],
  toolEnded: [...CALL, "outcome", "isWrite", "failureCategory", "outcomeUncertain", "durationMs", "action"],
  toolLateSettled: [...CALL, "returned"],
  toolUncertaintyResolved: [...CALL, "status"],
  epochSettled: ["epoch"],
  turnEnded: ["toolCalls"],
  runFaulted: ["code"],
  runEnded: ["status", "endedBy"],
} as const satisfies { readonly [Kind in KernelEventKind]: readonly (keyof KernelEventMap[Kind])[] };

/** What a record holds beside {@link RECORDED_FIELDS}. */
interface DerivedFields {
  /** `lanes` are numbers that stand for conflict keys, alike for one key throughout the run. */
  toolPrepared: { readonly lanes?: readonly number[]; readonly conflictKeys?: readonly string[] };
  messageUpdated: { readonly delta: Pick<Delta, "type"> };
  messageEnded: { readonly message: Pick<Message, "role"> };
}

type FieldsOf<Kind extends KernelEventKind> = Pick<
  KernelEventMap[Kind],
  (typeof RECORDED_FIELDS)[Kind][number] & keyof KernelEventMap[Kind]
> &
  (Kind extends keyof DerivedFields ? DerivedFields[Kind] : object);

/**
 * An event as a recording keeps it: an event's fields without any content. Every {@link KernelEvent} is
 * one too, so what reads these reads live events as well. `conflictKeys` only if the host asked for them;
 * a live event has no `lanes`.
 */
export type RecordedEvent<Kind extends KernelEventKind = KernelEventKind> = {
  [K in Kind]: { readonly kind: K } & Omit<EventBase, "audience"> & FieldsOf<K>;
}[Kind];
