import { checkOptions, mayBeAnything, type OptionCheck, oneOf } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { OpenUncertainty, SessionCore } from "../run/session-core.ts";
import type { LateFacts } from "./late-facts.ts";

/** What a host says became of an uncertain write. */
export interface UncertaintyResolution {
  readonly status: "committed" | "failed";
  /** For the host's own records. */
  readonly details?: JsonValue | undefined;
}

/** Whose uncertain write it is, and where that is recorded. */
export interface UncertaintyOwner {
  readonly core: SessionCore;
  /** Undefined without a run store. */
  readonly facts: LateFacts | undefined;
}

const RESOLUTION_CHECKS: Readonly<Record<keyof UncertaintyResolution, OptionCheck>> = {
  status: oneOf("committed", "failed"),
  details: mayBeAnything,
};

/**
 * Takes an uncertain write off those that block, by operation id or by call id (the newest unresolved one).
 * Calls that are not judged yet are no longer blocked by it; settled results stay (UNC-5, UNC-6). With a run
 * store it is durable when the promise resolves, also where the run has been given back in between (RUN-6).
 * Rejects with KernelError `OPERATION_UNKNOWN`, `INVALID_OPTIONS`, what the journal of a durable action says,
 * or what the run store says: `RUN_CLAIMED` where another process holds the run by now, `RUN_NOT_FOUND`, `JOURNAL_*`.
 */
export async function resolveUncertain(
  { core, facts }: UncertaintyOwner,
  operationIdOrCallId: string,
  resolution: UncertaintyResolution,
): Promise<void> {
  checkOptions(resolution, RESOLUTION_CHECKS, { path: "options", required: ["status"] });
  const { status, details } = resolution;
  const found = core.uncertain.findLast(
    ({ operationId, callId }) => operationId === operationIdOrCallId || callId === operationIdOrCallId,
  );
  if (found === undefined) {
    const message = "No unresolved uncertain write of this run has that operation id or call id.";
    throw new KernelError("OPERATION_UNKNOWN", message);
  }
  // For a durable action it counts only if its journal takes it.
  if (found.durable !== undefined) await found.durable.resolve(found.operationId, { status, details });
  const before = core.uncertain;
  // At once, so that a listener who has just seen it end keeps it from blocking; what it lets through is recorded
  // behind it, or not at all, and then is not dispatched either.
  core.uncertain = before.filter((write) => write !== found);
  try {
    if (facts !== undefined) await facts.record({ kind: "resolved", operationId: found.operationId });
  } catch (error) {
    core.uncertain = putBack(core.uncertain, found, before);
    throw error;
  }
  core.events.emitCall("toolUncertaintyResolved", found, { ...found.epochField, status });
}

/** A list with a write back in its place among those that were there with it. */
function putBack(
  now: readonly OpenUncertainty[],
  write: OpenUncertainty,
  before: readonly OpenUncertainty[],
): OpenUncertainty[] {
  const newer = new Set(before.slice(before.indexOf(write) + 1));
  const index = now.findIndex((other) => newer.has(other) || !before.includes(other));
  return now.toSpliced(index === -1 ? now.length : index, 0, write);
}
