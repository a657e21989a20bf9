import type { DispatchTimings, Disposition, GameActionIntent, GameActionReceipt } from "../domain/action.ts";
import type { JsonObject } from "../domain/json.ts";

/** One dispatch of an action, told in full. */
export interface CanonicalFacts {
  readonly receipt: GameActionReceipt;
  readonly disposition: Disposition;
  readonly timings: DispatchTimings;
}

/**
 * The canonical receipt JSON: the receipt, and how this one dispatch came by it. Always a result's
 * details; without a projector also what the model sees (PROJ-1). What a receipt does not have is null.
 */
export function canonicalReceipt({ receipt, disposition, timings }: CanonicalFacts): JsonObject {
  const { operationId, status, result, stateRevision, moment } = receipt;
  const [code, message] = receipt.status === "committed" ? [null, null] : [receipt.code, receipt.message];
  return {
    operationId,
    status,
    result,
    stateRevision: stateRevision ?? null,
    code,
    message,
    timelineId: moment.timelineId,
    tick: moment.tick,
    dispatch: disposition,
    duplicateExecutionPrevented: disposition === "replayed" || disposition === "recovered",
    recovered: disposition === "recovered",
    totalMs: timings.totalMs,
    hostMs: timings.hostMs,
    frameworkMs: timings.frameworkMs,
  };
}

/** The details of a call that has no receipt: what it was about, and why. */
export function detailsWithoutReceipt(
  { operationId, moment }: Pick<GameActionIntent, "operationId" | "moment">,
  why: { readonly code: string; readonly message: string; readonly disposition?: Disposition },
): JsonObject {
  return {
    operationId,
    status: why.code,
    message: why.message,
    timelineId: moment.timelineId,
    tick: moment.tick,
    ...(why.disposition !== undefined && { dispatch: why.disposition }),
  };
}
