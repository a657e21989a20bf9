import { fingerprintCall, fingerprintText } from "../repeat/fingerprint.ts";
import { countRepeat, isObservingRepeats } from "../repeat/repeat-tracker.ts";
import { repeatAdvisoryText } from "../settle/kernel-texts.ts";
import type { CallRun } from "./run-call.ts";
import type { SessionCore } from "./session-core.ts";

/** What the repeat check of a batch came to. */
export interface RepeatCheck {
  /** The one word to the model, if a sequence reached the advisory threshold (REP-4). */
  readonly advice: string | undefined;
  /** Whether a sequence reached the termination threshold (REP-5). */
  readonly isTerminated: boolean;
}

/**
 * Counts the calls of a batch, in source order, after all are prepared and decided and before any is
 * dispatched (REP-2); lets refused calls settle (PREP-6).
 */
export function checkRepeats(core: SessionCore, calls: readonly CallRun[]): RepeatCheck {
  let advice: string | undefined;
  let isTerminated = false;
  for (const call of calls) {
    const verdict = judge(core, call);
    if (verdict === "advisory") advice ??= repeatAdvisoryText(call.call.name, call.repeatCount);
    if (verdict === "terminated") isTerminated = true;
    if (verdict === "terminated" && call.refusal !== undefined) call.refusal = { ...call.refusal, terminate: true };
    if (call.refusal !== undefined) call.tell({ type: "CHECKED" });
    else if (verdict === "terminated") call.tell({ type: "REPEATED" });
  }
  return { advice, isTerminated };
}

function judge(core: SessionCore, call: CallRun): "none" | "advisory" | "terminated" {
  const tool = call.prepared?.tool ?? call.refusal?.tool;
  if (tool?.trackExactRepeats === false || !isObservingRepeats(core.thresholds)) return "none";
  const { sequence, verdict } = countRepeat(core.repeats, fingerprintOf(call), core.thresholds);
  core.repeats = sequence;
  call.repeatCount = sequence.count;
  if (verdict !== "none") {
    core.events.emit("toolRepeatDetected", call.owner.turn, {
      ...call.eventBase,
      action: verdict,
      count: sequence.count,
    });
  }
  return verdict;
}

/** A refused call counts by its draft, since it has no prepared arguments (REP-3). */
function fingerprintOf({ call, prepared, refusal }: CallRun): string {
  if (prepared !== undefined && refusal === undefined) return fingerprintCall(call.name, prepared.arguments);
  const draft = refusal?.draft;
  return draft === undefined ? fingerprintText(call.name, String(call.arguments)) : fingerprintCall(call.name, draft);
}
