/**
 * Which uncertain writes hold back which later writes.
 * Owns: nothing; the functions are pure. Upholds: UNC-2, UNC-3, UNC-6.
 */

/** An uncertain write that nobody has resolved. */
export interface UncertainWrite {
  readonly operationId: string;
  readonly callId: string;
  readonly toolName: string;
  /** Empty: it may have touched anything. */
  readonly conflictKeys: readonly string[];
  /** Whether it is of the batch that is being judged, not of an earlier one (`uncertainWriteScope: "run"`). */
  readonly isOfThisBatch: boolean;
}

/** What judging needs to know of a call that has not been dispatched. */
export interface JudgedCall {
  readonly isWrite: boolean;
  readonly conflictKeys: readonly string[];
}

/** Whether a batch minds an uncertain write: its own always, those before it under scope `run` where they have keys (UNC-6). */
export function isMinded(
  { isOfThisBatch, conflictKeys }: Pick<UncertainWrite, "isOfThisBatch" | "conflictKeys">,
  scope: "batch" | "run",
): boolean {
  return isOfThisBatch || (scope === "run" && conflictKeys.length > 0);
}

/**
 * The uncertain write that blocks a call, if one does; the first in the order given. A read is never
 * blocked (UNC-1). Within its batch an uncertain write blocks writes that share a key, writes without a
 * key (UNC-2) and, when it has no key itself, every write (UNC-3); beyond its batch only writes that
 * share a key (UNC-6).
 */
export function findBlocker(call: JudgedCall, uncertain: readonly UncertainWrite[]): UncertainWrite | undefined {
  if (!call.isWrite) return undefined;
  return uncertain.find((write) => blocks(write, call));
}

function blocks(write: UncertainWrite, call: JudgedCall): boolean {
  if (write.isOfThisBatch && (write.conflictKeys.length === 0 || call.conflictKeys.length === 0)) return true;
  return write.conflictKeys.some((key) => call.conflictKeys.includes(key));
}
