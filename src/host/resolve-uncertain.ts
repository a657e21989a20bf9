import { KernelError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { SessionCore } from "../run/session-core.ts";
import { checkOptions, isAnything, type OptionCheck, oneOf } from "./check-options.ts";

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
 * @throws KernelError `OPERATION_UNKNOWN`, `INVALID_OPTIONS`.
 */
export function resolveUncertain(
  core: SessionCore,
  operationIdOrCallId: string,
  resolution: UncertaintyResolution,
): void {
  checkOptions(resolution, RESOLUTION_CHECKS, { path: "options", required: ["status"] });
  const { status } = resolution;
  const found = core.uncertain.findLast(
    ({ operationId, callId }) => operationId === operationIdOrCallId || callId === operationIdOrCallId,
  );
  if (found === undefined) {
    const message = "No unresolved uncertain write of this run has that operation id or call id.";
    throw new KernelError("OPERATION_UNKNOWN", message);
  }
  core.uncertain = core.uncertain.filter((write) => write !== found);
  core.events.emitCall("toolUncertaintyResolved", found, { ...found.epochField, status });
}
