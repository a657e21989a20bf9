import stableStringify from "fast-json-stable-stringify";
import type { ActionResolution, GameActionReceipt as Receipt } from "../domain/action.ts";
import { KernelError } from "../domain/errors.ts";
import type { JournalEntry } from "../domain/journal.ts";
import type { DispatchParts } from "./dispatch-parts.ts";
import { copyPlainJson } from "./plain-json.ts";
import { GameActionReceipt } from "./receipt.ts";
import { lookAfter } from "./reconcile-action.ts";

/** How long reconcilers are kept away while a person's word is saved. */
const HOLD_MS = 30_000;
const STATUSES: readonly unknown[] = ["committed", "rejected", "failed"];

/**
 * Closes an uncertain operation by a person's word, under a raised fence, with the evidence stored (ACT-5).
 * Saying the same of a final entry again is fine.
 * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, `RECEIPT_IMMUTABLE` when it ended otherwise,
 * `INVALID_OPTIONS` when it is not uncertain or the resolution is none, or `JOURNAL_*`.
 */
export async function resolveAction(
  parts: DispatchParts,
  operationId: string,
  resolution: ActionResolution,
): Promise<Receipt> {
  const evidence = copyPlainJson(resolution.evidence);
  if (!evidence.ok) throw invalid(operationId, `its evidence ${evidence.fault}`);
  if (!STATUSES.includes(resolution.status))
    throw invalid(operationId, "its status is none of committed, rejected, failed");
  const entry = await lookAfter(parts, operationId);
  if (entry.state !== "uncertain") return confirmEnding(entry, resolution);
  const { protocol } = parts.journal;
  const taken = await protocol.takeOver({ operationId, by: "person", holdMs: HOLD_MS });
  if (taken.kind === "settled") return confirmEnding(taken.entry, resolution);
  if (taken.kind !== "taken") throw invalid(operationId, "the journal did not hand it over; try again");
  const receipt = receiptOf(taken.entry, resolution);
  const saved = await protocol.finish({ operationId, fence: taken.entry.fence, receipt, evidence: evidence.value });
  return saved.kind === "saved" ? receipt : confirmEnding(saved.entry, resolution);
}

function confirmEnding(entry: JournalEntry, resolution: ActionResolution): Receipt {
  const { operationId } = entry.intent;
  const { state, receipt } = entry;
  if (receipt === undefined || state === "prepared" || state === "dispatched" || state === "uncertain") {
    throw invalid(operationId, `it is ${state}, and only an uncertain operation can be closed by hand`);
  }
  if (isSameEnding(receipt, resolution)) return receipt;
  throw new KernelError(
    "RECEIPT_IMMUTABLE",
    `Operation ${operationId} has ended as ${state}; that cannot be changed.`,
    {
      subject: operationId,
    },
  );
}

/** Whether all that the person says is what the stored receipt says. */
function isSameEnding(receipt: Receipt, { status, result, code, message }: ActionResolution): boolean {
  if (receipt.status !== status) return false;
  if (receipt.status === "committed")
    return result === undefined || stableStringify(result) === stableStringify(receipt.result);
  return (code ?? receipt.code) === receipt.code && (message ?? receipt.message) === receipt.message;
}

function receiptOf({ intent }: JournalEntry, { status, result, code, message }: ActionResolution): Receipt {
  if (status !== "committed") {
    return GameActionReceipt[status](
      intent,
      code ?? "resolved",
      message ?? "A person found out that the action did not happen.",
    );
  }
  const copied = copyPlainJson(result ?? null);
  if (!copied.ok) throw invalid(intent.operationId, `its result ${copied.fault}`);
  return GameActionReceipt.committed(intent, copied.value);
}

function invalid(operationId: string, fault: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `Operation ${operationId} cannot be resolved: ${fault}.`, {
    subject: operationId,
  });
}
