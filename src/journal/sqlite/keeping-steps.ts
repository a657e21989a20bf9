import type { SweepCount } from "../../domain/journal.ts";
import { forgetArguments } from "../stored-entry.ts";
import { abandonStep } from "./ending-steps.ts";
import type { Stretch } from "./entry-table.ts";
import type { Ledger } from "./ledger.ts";

/** Most entries that one transaction makes forget, and that one look goes through. */
const PRUNE_AT_ONCE = 200;
const LOOK_AT_ONCE = 2_000;

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

/** What is left to do of a stretch of entries: where to forget, which may be nowhere, and where to look next. */
export interface PruneLook {
  readonly stretch: Stretch | undefined;
  readonly after: number;
}

/** Looks, without a lock, for some old final entries after a place, among so many that the look is short. */
export function lookForOld(ledger: Ledger, { after, to }: Stretch, finalBefore: number): PruneLook {
  const end = Math.min(to, after + LOOK_AT_ONCE);
  const places = ledger.entries.placesOld({ after, to: end }, finalBefore, PRUNE_AT_ONCE);
  const [first] = places;
  const last = places.at(-1);
  if (first === undefined || last === undefined) return { stretch: undefined, after: end };
  return { stretch: { after: first - 1, to: last }, after: places.length < PRUNE_AT_ONCE ? end : last };
}

/** Makes the old final entries of a stretch forget arguments, receipt and evidence (ACT-10); returns how many. */
export function pruneStep(ledger: Ledger, stretch: Stretch, finalBefore: number): number {
  const old = ledger.entries.listOld(stretch, finalBefore);
  for (const stored of old) {
    ledger.noteWrite();
    const intentText = forgetArguments(stored.intentText);
    ledger.entries.update(stored, { ...stored, intentText, receiptText: null, isForgotten: true });
    ledger.entries.dropEvidence(stored.operationId);
  }
  return old.length;
}
