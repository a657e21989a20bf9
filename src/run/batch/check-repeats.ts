import type { ToolCall } from "../../domain/call.ts";
import { type Fingerprint, fingerprintCall, fingerprintText } from "../../repeat/fingerprint.ts";
import {
  countRepeat,
  isObservingRepeats,
  NO_REPEATS,
  type RepeatSequence,
  type RepeatVerdict,
} from "../../repeat/repeat-tracker.ts";
import { repeatAdvisoryText } from "../../settle/kernel-texts.ts";
import type { CallRun } from "../call/run-call.ts";
import { FACTS } from "../facts.ts";
import type { SessionCore } from "../session-core.ts";
import type { StoredBatch } from "../store/stored-run.ts";

/** What the repeat check of a batch came to. */
export interface RepeatCheck {
  /** The one word to the model, if a sequence reached the advisory threshold (REP-4). */
  readonly advice: string | undefined;
  /** Whether a sequence reached the termination threshold (REP-5). */
  readonly isTerminated: boolean;
  /** The session's sequence before the batch's calls were counted, and with them. */
  readonly before: RepeatSequence;
  readonly after: RepeatSequence;
}

/** What a batch has come to that never got as far as the check. */
export const UNCHECKED: RepeatCheck = Object.freeze({
  advice: undefined,
  isTerminated: false,
  before: NO_REPEATS,
  after: NO_REPEATS,
});

/**
 * Counts the calls of a batch, in source order, after all are prepared and decided and before any is
 * dispatched (REP-2); lets refused calls settle (PREP-6). What an earlier process has planned it has checked
 * and told of, and its plan stands (RUN-6).
 */
export function checkRepeats(
  core: SessionCore,
  calls: readonly CallRun[],
  stored: StoredBatch | undefined,
): RepeatCheck {
  const isPlanned = stored?.epochs !== undefined;
  const before = core.repeats;
  let advice: string | undefined;
  let isTerminated = false;
  for (const call of calls) {
    const verdict = judge(core, call);
    if (verdict !== "none" && !isPlanned) tellRepeat(call, verdict);
    if (verdict === "advisory") advice ??= repeatAdvisoryText(call.call.name, call.repeatCount);
    if (verdict === "terminated") isTerminated = true;
    if (verdict === "terminated" && call.refusal !== undefined) call.refusal = { ...call.refusal, terminate: true };
    if (call.refusal !== undefined) call.tell(FACTS.CHECKED);
    else if (verdict === "terminated" && !isPlanned) call.tell(FACTS.REPEATED);
  }
  const after = core.repeats;
  if (stored?.isBehindEvidence === true) core.repeats = NO_REPEATS;
  return { advice, isTerminated, before, after };
}

/**
 * Takes back what the cancelled calls of a batch added when it was checked (REP-3); nothing where new
 * evidence has come since (REP-7).
 */
export function uncountCancelled(core: SessionCore, calls: readonly CallRun[], { before, after }: RepeatCheck): void {
  if (core.repeats !== after) return;
  core.repeats = before;
  for (const call of calls) {
    if (!isCounted(core, call)) continue;
    core.repeats = countRepeat(core.repeats, fingerprintOf(call), core.thresholds).sequence;
  }
}

function isCounted(core: SessionCore, call: CallRun): boolean {
  if (call.settled?.outcome === "cancelled") return false;
  const tool = call.prepared?.tool ?? call.refusal?.tool;
  return tool?.trackExactRepeats !== false && isObservingRepeats(core.thresholds);
}

function judge(core: SessionCore, call: CallRun): RepeatVerdict {
  if (!isCounted(core, call)) return "none";
  const { sequence, verdict } = countRepeat(core.repeats, fingerprintOf(call), core.thresholds);
  core.repeats = sequence;
  call.repeatCount = sequence.count;
  return verdict;
}

function tellRepeat(call: CallRun, action: Exclude<RepeatVerdict, "none">): void {
  call.owner.core.events.emitCall("toolRepeatDetected", call, { action, count: call.repeatCount });
}

/** A refused call counts by its draft, since it has no prepared arguments (REP-3). */
function fingerprintOf({ call, prepared, refusal }: CallRun): Fingerprint {
  if (prepared !== undefined && refusal === undefined) return fingerprintCall(call.name, prepared.arguments);
  const draft = refusal?.draft;
  return draft === undefined ? fingerprintText(call.name, rawText(call)) : fingerprintCall(call.name, draft);
}

/** The draft as it came. A host's object that could not be copied has no text; it counts by what can be read of it. */
function rawText({ arguments: draft }: ToolCall): string {
  if (typeof draft === "string") return draft;
  try {
    return String(JSON.stringify(draft));
  } catch {
    return "";
  }
}
