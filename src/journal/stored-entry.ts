import type { GameActionIntent, GameActionReceipt } from "../domain/action.ts";
import type { ClaimRequest, JournalEntry, JournalState } from "../domain/journal.ts";

/** An entry as stores keep it: JSON as text, so that what is read is what was written. */
export interface StoredEntry {
  readonly operationId: string;
  readonly state: JournalState;
  readonly fence: number;
  readonly owner: string;
  /** The attempt that claimed or queued last. */
  readonly claimId: string;
  readonly intentHash: string;
  readonly intentText: string;
  /** Ids of the conflict scopes, sorted. */
  readonly scopes: readonly string[];
  readonly receiptText: string | null;
  /** Until when a reconciler has it; null when none does. */
  readonly heldUntilMs: number | null;
  readonly isForgotten: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Under what an attempt is written: of a new entry, or over one that was read. */
export interface AttemptFacts {
  readonly stored: StoredEntry | undefined;
  readonly owner: string;
  readonly state: Extract<JournalState, "prepared" | "dispatched">;
  readonly fence: number;
  readonly nowMs: number;
}

/** The entry of an attempt, as it is to be written. */
export function newAttempt(request: ClaimRequest, facts: AttemptFacts): StoredEntry {
  const { stored, owner, state, fence, nowMs } = facts;
  return {
    operationId: request.operationId,
    state,
    fence,
    owner,
    claimId: request.claimId,
    intentHash: request.intentHash,
    // The first intent stands, whatever a later attempt of the same says of revision and keys (ACT-7).
    intentText: stored?.intentText ?? request.intentText,
    scopes: request.scopes.map(({ id }) => id),
    receiptText: null,
    heldUntilMs: null,
    isForgotten: false,
    createdAtMs: stored?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
  };
}

/** The entry as hosts see it. An uncertain one always has a receipt that says so. */
export function readEntry(stored: StoredEntry): JournalEntry {
  const intent = JSON.parse(stored.intentText) as GameActionIntent; // written by a claim, from a checked intent
  const receipt = readReceipt(stored, intent);
  return {
    intent,
    state: stored.state,
    fence: stored.fence,
    owner: stored.owner,
    ...(receipt !== undefined && { receipt }),
    createdAtMs: stored.createdAtMs,
    updatedAtMs: stored.updatedAtMs,
    ...(stored.isForgotten && { forgotten: true }),
  };
}

/** The intent without its arguments, as `prune` leaves it (ACT-10). */
export function forgetArguments(intentText: string): string {
  return JSON.stringify({ ...(JSON.parse(intentText) as GameActionIntent), arguments: null }); // written by a claim
}

function readReceipt(stored: StoredEntry, intent: GameActionIntent): GameActionReceipt | undefined {
  if (stored.receiptText !== null) return JSON.parse(stored.receiptText) as GameActionReceipt; // written by finish or doubt
  if (stored.state !== "uncertain") return undefined;
  return {
    operationId: stored.operationId,
    moment: intent.moment,
    status: "uncertain",
    result: null,
    code: "owner_lost",
    message: "The process that dispatched this action ended, or was out of reach, before it saved a receipt.",
  };
}
