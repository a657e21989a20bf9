/**
 * Counts equal calls that follow each other in a run.
 * Owns: nothing; a {@link RepeatSequence} is a value, its one holder is the session. Upholds: REP-2 to
 * REP-6, REP-8. A fingerprint never leaves the sequence (REP-1).
 */

import { type Fingerprint, isSameFingerprint } from "./fingerprint.ts";

/** The tracked call that came last, and how often in a row. */
export interface RepeatSequence {
  readonly fingerprint: Fingerprint | undefined;
  readonly count: number;
}

/** When to advise and when to stop; 0 switches one off (REP-6). */
export interface RepeatThresholds {
  readonly advisory: number;
  readonly termination: number;
}

/** What to do about a call: nothing, tell the model (REP-4), or not run it (REP-5). */
export type RepeatVerdict = "none" | "advisory" | "terminated";

/** A sequence in which nothing has come yet; also what new evidence resets to (REP-7). */
export const NO_REPEATS: RepeatSequence = Object.freeze({ fingerprint: undefined, count: 0 });

/** Whether any repeat is observed at all. */
export function isObservingRepeats(thresholds: RepeatThresholds): boolean {
  return thresholds.advisory > 0 || thresholds.termination > 0;
}

/**
 * Adds one tracked call, given in source order, to a sequence: an equal fingerprint adds one, another
 * starts at one (REP-2). Pure.
 */
export function countRepeat(
  sequence: RepeatSequence,
  fingerprint: Fingerprint,
  thresholds: RepeatThresholds,
): { readonly sequence: RepeatSequence; readonly verdict: RepeatVerdict } {
  const { fingerprint: last } = sequence;
  const count = last !== undefined && isSameFingerprint(last, fingerprint) ? sequence.count + 1 : 1;
  return { sequence: { fingerprint, count }, verdict: judgeCount(count, thresholds) };
}

function judgeCount(count: number, { advisory, termination }: RepeatThresholds): RepeatVerdict {
  if (termination > 0 && count >= termination) return "terminated";
  // A count is never 0, which switches it off.
  if (count === advisory) return "advisory";
  return "none";
}
