import type { SweepCount } from "../../domain/journal.ts";
import { forgetArguments } from "../stored-entry.ts";
import { abandonStep } from "./ending-steps.ts";
import type { Ledger } from "./ledger.ts";

const PRUNE_AT_ONCE = 200;

/** Looks after an owner whose process has ended (ACT-5); runs in a write transaction. */
export function sweepOwnerStep(ledger: Ledger, owner: string): SweepCount {
  const left = ledger.entries.listOpenOf(owner);
  const dispatched = left.filter(({ state }) => state === "dispatched");
  const prepared = left.filter(({ state }) => state === "prepared");
  for (const stored of dispatched) {
    ledger.change(stored, { state: "uncertain" });
    ledger.noteRelease(stored);
  }
  for (const { operationId } of prepared) abandonStep(ledger, operationId);
  return { uncertain: dispatched.length, abandoned: prepared.length };
}

/** Makes some old final entries forget arguments, receipt and evidence (ACT-10); answers how many. */
export function pruneStep(ledger: Ledger, finalBefore: number): number {
  const old = ledger.entries.listOld(finalBefore, PRUNE_AT_ONCE);
  for (const stored of old) {
    ledger.noteWrite();
    const intentText = forgetArguments(stored.intentText);
    ledger.entries.update(stored, { ...stored, intentText, receiptText: null, isForgotten: true });
    ledger.entries.dropEvidence(stored.operationId);
  }
  return old.length;
}
