/**
 * Brings a run to where an earlier process left it, from the facts in its store (RUN-6).
 * Owns: nothing. Nothing is emitted and nobody is asked: what happened has happened.
 */
import type { BatchResult } from "../../domain/batch.ts";
import type { SettledCall } from "../../domain/call.ts";
import type { RunOutcome } from "../../domain/run.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";
import { type Fingerprint, fingerprintCall, fingerprintText } from "../../repeat/fingerprint.ts";
import { countRepeat, isObservingRepeats, NO_REPEATS, type RepeatSequence } from "../../repeat/repeat-tracker.ts";
import { restoreHold } from "../call/lane-traffic.ts";
import type { RunLoop } from "../loop/run-loop.ts";
import { responseError } from "../loop/take-response.ts";
import { Transcript } from "../loop/transcript.ts";
import type { SessionCore } from "../session-core.ts";
import { type StoredBatch, type StoredRun, toSettled } from "./stored-run.ts";

/** Where a stored run goes on: with its open batch, with the end of its turn, or with the next request. */
export type EntryPoint = "RESUME" | "CLOSE_TURN" | "BEGIN";

/** Takes a stored run into a loop and returns where it goes on. */
export function restoreRun(run: RunLoop, stored: StoredRun): EntryPoint {
  const { core } = run;
  run.transcript = new Transcript(stored.earlier);
  for (const message of stored.added) run.transcript.take(message);
  run.turn = stored.turn;
  run.totalTokens = stored.totalTokens;
  run.queues.putFirst("steering", stored.steering);
  run.queues.putFirst("followUp", stored.followUps);
  restoreCore(core, stored, core.tools);
  const last = stored.history.findLast((batch) => batch !== null);
  if (last === undefined || last === null) return "BEGIN";
  const { message, calls, hasDuplicateIds } = last.response;
  if (message !== undefined) run.assistant = { message, calls, hasDuplicateIds };
  run.error = responseError(last.response);
  if (stored.open !== undefined && calls.length > 0) {
    run.storedBatch = stored.open;
    return "RESUME";
  }
  run.batchResult = resultOf(last);
  // What was said since the turn ended waits for its answer.
  return stored.history.at(-1) === null ? "BEGIN" : "CLOSE_TURN";
}

/** Takes what later batches depend on into a session's core: counts, repeats, uncertain writes. */
export function restoreCore(core: SessionCore, stored: StoredRun, tools: ToolRegistry): void {
  const { open } = stored;
  const closed = stored.history.filter((batch) => batch !== open);
  core.toolCalls = open?.earlierToolCalls ?? stored.toolCalls;
  core.resolved = stored.resolved;
  core.uncertain = [];
  core.repeats = countHistory(core, closed, tools);
  for (const batch of closed) if (batch !== null) restoreUncertain(core, batch);
  for (const batch of stored.history) if (batch !== null) restoreHolds(core, batch);
}

/** The result of a batch that has ended, as it was given; undefined while it has not. */
export function resultOf(batch: StoredBatch): BatchResult | undefined {
  const { ended } = batch;
  if (ended === undefined) return undefined;
  const { messages, closedBy } = ended;
  return {
    // What a batch recorded of itself at its end.
    messages: messages as BatchResult["messages"],
    settled: settledCalls(batch),
    closed: closedBy !== undefined,
    ...(closedBy !== undefined && { closedBy }),
  };
}

/** The calls of a batch that have settled, in source order, as they were settled. */
export function settledCalls({ settled, response, preparations }: StoredBatch): readonly SettledCall[] {
  const known = new Map(preparations?.map((preparation) => [preparation.index, preparation]));
  return response.calls.flatMap((call, index) => {
    const fact = settled.get(index);
    const preparation = known.get(index);
    if (fact === undefined) return [];
    const conflictKeys = preparation?.kind === "prepared" ? preparation.conflictKeys : [];
    return [toSettled(fact, { call, conflictKeys, repairs: preparation?.repairs ?? [] })];
  });
}

/** What an ended run came to, as it was given the first time. */
export function storedOutcomeOf(runId: string, stored: StoredRun): RunOutcome | undefined {
  if (stored.ended === undefined) return undefined;
  const { error, ...rest } = stored.ended;
  const transcript = new Transcript(stored.earlier);
  for (const message of stored.added) transcript.take(message);
  const { messages, added } = transcript.answered();
  return { ...rest, runId, messages, newMessages: added, ...(error !== undefined && { error: toError(error) }) };
}

/** The repeat sequence is counted anew from the stored arguments; nothing derived from them was kept (REP-1). */
function countHistory(
  core: SessionCore,
  history: readonly (StoredBatch | null)[],
  tools: ToolRegistry,
): RepeatSequence {
  let sequence = NO_REPEATS;
  if (!isObservingRepeats(core.thresholds)) return sequence;
  for (const batch of history) {
    if (batch === null) sequence = NO_REPEATS;
    for (const fingerprint of batch === null ? [] : fingerprintsOf(batch, tools)) {
      sequence = countRepeat(sequence, fingerprint, core.thresholds).sequence;
    }
  }
  return sequence;
}

function fingerprintsOf(
  { preparations, response, settled, decisions }: StoredBatch,
  tools: ToolRegistry,
): Fingerprint[] {
  return (preparations ?? []).flatMap((known) => {
    const call = response.calls[known.index];
    const isExempt = call === undefined || tools.get(call.name)?.tool.trackExactRepeats === false;
    if (isExempt || settled.get(known.index)?.outcome === "cancelled") return [];
    const isRun = known.kind === "prepared" && decisions.get(known.index)?.block === undefined;
    if (isRun) return [fingerprintCall(call.name, known.arguments)];
    if (known.draft !== undefined) return [fingerprintCall(call.name, known.draft)];
    return [
      fingerprintText(call.name, typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)),
    ];
  });
}

function restoreHolds(core: SessionCore, { settled, preparations }: StoredBatch): void {
  for (const { index, heldUntilMs } of settled.values()) {
    if (heldUntilMs === undefined) continue;
    restoreHold(core, { conflictKeys: keysOf(preparations, index), untilDateMs: heldUntilMs });
  }
}

function keysOf(preparations: StoredBatch["preparations"], index: number): readonly string[] {
  const known = preparations?.find((preparation) => preparation.index === index);
  return known?.kind === "prepared" ? known.conflictKeys : [];
}

function restoreUncertain(core: SessionCore, { settled, response, preparations }: StoredBatch): void {
  for (const fact of settled.values()) {
    const call = response.calls[fact.index];
    if (fact.outcome !== "uncertain" || call === undefined || core.resolved.has(fact.operationId)) continue;
    core.uncertain.push({
      turn: fact.turn,
      callId: call.id,
      callIndex: fact.index,
      toolName: call.name,
      operationId: fact.operationId,
      conflictKeys: keysOf(preparations, fact.index),
      epochField: fact.epoch === undefined ? {} : { epoch: fact.epoch },
      batch: settled,
      durable: core.tools.get(call.name)?.tool.durable,
    });
  }
}

function toError({ name, message, code }: NonNullable<NonNullable<StoredRun["ended"]>["error"]>): Error {
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
}
