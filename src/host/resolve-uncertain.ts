import { checkOptions, isAnything, type OptionCheck, oneOf } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { SessionCore } from "../run/session-core.ts";

/** What a host says became of an uncertain write. */
export interface UncertaintyResolution {
  readonly status: "committed" | "failed";
  /** For the host's own records. */
  readonly details?: JsonValue | undefined;
}

const RESOLUTION_CHECKS: Readonly<Record<keyof UncertaintyResolution, OptionCheck>> = {
  status: oneOf("committed", "failed"),
  details: isAnything,
};

/**
 * Takes an uncertain write off those that block, by operation id or by call id (the newest unresolved one).
 * Calls that are not judged yet are no longer blocked by it; settled results stay (UNC-5, UNC-6).
 * Rejects with KernelError `OPERATION_UNKNOWN`, `INVALID_OPTIONS`, or what the journal of a durable action says.
 */
export async function resolveUncertain(
  core: SessionCore,
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
  core.uncertain = core.uncertain.filter((write) => write !== found);
  core.recorder?.note({ kind: "resolved", operationId: found.operationId });
  core.events.emitCall("toolUncertaintyResolved", found, { ...found.epochField, status });
}
