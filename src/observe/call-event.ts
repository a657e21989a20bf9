/**
 * Events of calls, put together.
 * The kinds that every call that runs has are written out, each in one piece: an object that grows by the
 * fields of another is larger, and all four events of a call live as long as its batch. Pure.
 */
import type { CallEventFields, CallEventKind, CallPlace, KernelEvent } from "../domain/event.ts";

/** Which event of a call it is: its place in the run, when it was, and the call. */
export interface EventStamp {
  readonly seq: number;
  readonly timeMs: number;
  readonly runId: string;
  readonly call: CallPlace;
}

/** A call is dispatched in an epoch. */
type DispatchFields = CallEventFields<"toolDispatched"> & { readonly epoch: number };

/** Makes an event of a call; a question to a person is its owner's, all else is internal (OBS-2). */
export function makeCallEvent<Kind extends CallEventKind>(
  kind: Kind,
  stamp: EventStamp,
  fields: CallEventFields<Kind>,
): KernelEvent {
  // A kind says what its fields are, which cannot be seen through a type parameter.
  const given: unknown = fields;
  switch (kind as CallEventKind) {
    case "toolPrepared":
      return makePrepared(stamp, given as CallEventFields<"toolPrepared">);
    case "toolDispatched":
      return makeDispatched(stamp, given as DispatchFields);
    case "toolEnded":
      return makeEnded(stamp, given as CallEventFields<"toolEnded">);
    default:
      return makeOther(kind, stamp, fields);
  }
}

function makeOther(
  kind: CallEventKind,
  { seq, timeMs, runId, call: { turn, callId, callIndex, toolName, operationId } }: EventStamp,
  fields: object,
): KernelEvent {
  const audience = kind === "approvalRequested" ? "owner" : "internal";
  const base = { kind, seq, timeMs, runId, turn, audience, callId, callIndex, toolName, operationId };
  return Object.assign(base, fields) as KernelEvent; // a kind and its fields
}

function makePrepared(
  { seq, timeMs, runId, call: { turn, callId, callIndex, toolName, operationId } }: EventStamp,
  { conflictKeys }: CallEventFields<"toolPrepared">,
): KernelEvent<"toolPrepared"> {
  return {
    kind: "toolPrepared",
    seq,
    timeMs,
    runId,
    turn,
    audience: "internal",
    callId,
    callIndex,
    toolName,
    operationId,
    conflictKeys,
  };
}

function makeDispatched(
  { seq, timeMs, runId, call: { turn, callId, callIndex, toolName, operationId } }: EventStamp,
  { epoch, isWrite, waitedMs, barrierMs, keyMs, queueMs }: DispatchFields,
): KernelEvent<"toolDispatched"> {
  return {
    kind: "toolDispatched",
    seq,
    timeMs,
    runId,
    turn,
    audience: "internal",
    callId,
    callIndex,
    toolName,
    operationId,
    epoch,
    isWrite,
    waitedMs,
    barrierMs,
    keyMs,
    queueMs,
  };
}

/** Of a call that was dispatched and succeeded; whatever more there is to say of one makes it grow. */
function makeEnded(stamp: EventStamp, fields: CallEventFields<"toolEnded">): KernelEvent {
  const { outcome, isWrite, outcomeUncertain, result, epoch, durationMs, failureCategory, action } = fields;
  const hasMore = failureCategory !== undefined || action !== undefined;
  if (hasMore || epoch === undefined || durationMs === undefined) return makeOther("toolEnded", stamp, fields);
  const { seq, timeMs, runId, call } = stamp;
  const { turn, callId, callIndex, toolName, operationId } = call;
  return {
    kind: "toolEnded",
    seq,
    timeMs,
    runId,
    turn,
    audience: "internal",
    callId,
    callIndex,
    toolName,
    operationId,
    outcome,
    isWrite,
    outcomeUncertain,
    result,
    epoch,
    durationMs,
  };
}
