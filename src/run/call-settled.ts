import type { Outcome, SettledCall } from "../domain/call.ts";
import type { ToolResult } from "../domain/content.ts";
import type { CallEventFields } from "../domain/event.ts";
import type { RunFact } from "../domain/run-store.ts";
import type { Writable } from "../domain/writable.ts";
import { actionFactsOf } from "./durable-call.ts";
import type { CallRun } from "./run-call.ts";

/** A call with its one and only result, as hosts get it. */
export function describeSettled(call: CallRun, outcome: Outcome, result: ToolResult): SettledCall {
  const settled: Writable<SettledCall> = {
    call: call.call,
    index: call.callIndex,
    operationId: call.operationId,
    conflictKeys: call.conflictKeys,
    outcome,
    result,
    endedAtMs: call.owner.core.settings.clock.now(),
  };
  const repairs = call.prepared?.repairs ?? call.refusal?.repairs ?? [];
  if (call.epochRun !== undefined) settled.epoch = call.epochRun.epoch;
  if (call.execution !== undefined) settled.startedAtMs = call.execution.startedAtMs;
  if (repairs.length > 0) settled.repairs = repairs;
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
  };
}

/** The same as its event tells it. */
export function describeEnd(call: CallRun, settled: SettledCall): CallEventFields<"toolEnded"> {
  const { outcome, result, epoch, startedAtMs, endedAtMs } = settled;
  const end: Writable<CallEventFields<"toolEnded">> = {
    outcome,
    isWrite: call.isWrite,
    outcomeUncertain: result.outcomeUncertain,
    result,
  };
  if (epoch !== undefined) end.epoch = epoch;
  if (result.failureCategory !== undefined) end.failureCategory = result.failureCategory;
  if (startedAtMs !== undefined) end.durationMs = endedAtMs - startedAtMs;
  const action = actionFactsOf(call);
  if (action !== undefined) end.action = action;
  return end;
}
