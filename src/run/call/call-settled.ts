import type { Outcome, SettledCall } from "../../domain/call.ts";
import type { ToolResult } from "../../domain/content.ts";
import type { CallEventFields } from "../../domain/event.ts";
import type { RunFact } from "../../domain/run-store.ts";
import type { Writable } from "../../domain/writable.ts";
import type { EpochRun } from "../batch/run-epoch.ts";
import type { OpenUncertainty } from "../session-core.ts";
import { actionFactsOf } from "./durable-call.ts";
import { dateOf, holdEnd, mayBeAlive } from "./lane-traffic.ts";
import type { CallRun } from "./run-call.ts";

/** A call with its one and only result, as hosts get it. */
export function describeSettled(call: CallRun, outcome: Outcome, result: ToolResult): SettledCall {
  const { call: drafted, callIndex: index, operationId, conflictKeys } = call;
  const epoch = call.epochRun?.epoch;
  const startedAtMs = startOf(call);
  const endedAtMs = call.owner.core.settings.clock.now();
  // Written out, for calls that ran and others: an object that is put together piece by piece costs as much as
  // all else that is done for a call here.
  const settled: Writable<SettledCall> =
    epoch === undefined || startedAtMs === undefined
      ? { call: drafted, index, operationId, conflictKeys, outcome, result, endedAtMs }
      : { call: drafted, index, operationId, conflictKeys, epoch, outcome, result, startedAtMs, endedAtMs };
  if (epoch !== undefined) settled.epoch = epoch;
  if (startedAtMs !== undefined) settled.startedAtMs = startedAtMs;
  const repairs = call.prepared?.repairs ?? call.refusal?.repairs;
  if (repairs !== undefined && repairs.length > 0) settled.repairs = repairs;
  return settled;
}

/** The same as a run store keeps it (RUN-6). */
export function settledFact(call: CallRun, settled: SettledCall): Extract<RunFact, { kind: "settled" }> {
  const { index, operationId, outcome, result, epoch, startedAtMs, endedAtMs } = settled;
  return {
    kind: "settled",
    turn: call.turn,
    index,
    operationId,
    outcome,
    result,
    endedAtMs,
    ...(epoch !== undefined && { epoch }),
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(call.isProjectionFailed && { isProjectionFailed: true as const }),
    ...(mayBeAlive(call) && { heldUntilMs: dateOf(call.owner.core, holdEnd(call.owner.core, call)) }),
  };
}

/** When it was dispatched, by whichever process (RUN-6). */
function startOf({ execution, earlierDispatch, isLost }: CallRun): number | undefined {
  return execution === undefined || isLost ? earlierDispatch?.atMs : execution.startedAtMs;
}

/** A dispatch as its event tells it: what was waited for, and how long. */
export function describeDispatch(call: CallRun, epochRun: EpochRun): CallEventFields<"toolDispatched"> {
  const { preparedAtMs, headedAtMs, isWrite } = call;
  const { epoch, startedAtMs: epochStartedAtMs } = epochRun;
  const beganMs = call.execution?.beganMs ?? headedAtMs;
  return {
    epoch,
    isWrite,
    waitedMs: beganMs - preparedAtMs,
    barrierMs: epochStartedAtMs - preparedAtMs,
    keyMs: headedAtMs - epochStartedAtMs,
    queueMs: beganMs - headedAtMs,
  };
}

/** An uncertain write as its session keeps it, to be minded and resolved (UNC-2, UNC-6). */
export function describeUncertainty(call: CallRun, batch: object): OpenUncertainty {
  const { turn, callId, callIndex, toolName, operationId, conflictKeys, epochField } = call;
  const place = { turn, callId, callIndex, toolName, operationId };
  return { ...place, conflictKeys, epochField, batch, durable: call.prepared?.tool.durable };
}

/** The same as its event tells it. */
export function describeEnd(call: CallRun, settled: SettledCall): CallEventFields<"toolEnded"> {
  const { outcome, result, epoch, startedAtMs, endedAtMs } = settled;
  const { isWrite } = call;
  const { outcomeUncertain, failureCategory } = result;
  const isTimed = call.execution !== undefined && !call.isLost && startedAtMs !== undefined;
  const durationMs = isTimed ? endedAtMs - startedAtMs : undefined;
  const end: Writable<CallEventFields<"toolEnded">> =
    epoch === undefined || durationMs === undefined
      ? { outcome, isWrite, outcomeUncertain, result }
      : { outcome, isWrite, outcomeUncertain, result, epoch, durationMs };
  if (epoch !== undefined) end.epoch = epoch;
  if (durationMs !== undefined) end.durationMs = durationMs;
  if (failureCategory !== undefined) end.failureCategory = failureCategory;
  const action = actionFactsOf(call);
  if (action !== undefined) end.action = action;
  return end;
}
