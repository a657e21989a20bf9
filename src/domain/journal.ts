import type { GameActionIntent, GameActionReceipt } from "./action.ts";
import type { JsonValue } from "./json.ts";

/** The states of a journal entry (ACT-2). */
export type JournalState = "prepared" | "dispatched" | "committed" | "rejected" | "failed" | "uncertain" | "abandoned";

/** What a journal knows of one operation. Times are milliseconds since the epoch, by the store's clock. */
export interface JournalEntry {
  /** As stored. Of a pruned entry `arguments` is null. */
  readonly intent: GameActionIntent;
  readonly state: JournalState;
  /** A safe integer. */
  readonly fence: number;
  /** Who claimed it last. */
  readonly owner: string;
  /** The final receipt, or of an uncertain entry what is known. */
  readonly receipt?: GameActionReceipt;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Set when `prune` has removed arguments and receipt; the id stays taken for ever (ACT-10). */
  readonly forgotten?: true;
}

/** Which open entries to list; `after` is the `next` of the page before. */
export interface ListOpenOptions {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Open entries in order of their ids; `next` is there when more follow. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  readonly next?: string;
}

/** Where intents and receipts are kept (ACT-10). What stands in `protocol` is the dispatcher's. */
export interface Journal {
  /** The entry of an operation id, or undefined. */
  find(operationId: string): Promise<JournalEntry | undefined>;
  /** Prepared, dispatched and uncertain entries. */
  listOpen(options: ListOpenOptions): Promise<JournalPage>;
  /**
   * Removes arguments and receipt content of final entries last changed before a time, never of an open
   * one; ids stay taken (ACT-10). Returns how many.
   */
  prune(options: { readonly finalBefore: number }): Promise<number>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  readonly protocol: JournalProtocol;
}

/** The subject of a `JOURNAL_UNAVAILABLE` that says: the step never reached the store. */
export const NOTHING_WRITTEN = "nothing written";

/** The subject of a `JOURNAL_UNAVAILABLE` that says: the step was sent, and its answer was lost on the way. */
export const ANSWER_LOST = "answer lost";

/**
 * The steps a dispatcher takes. Each is one atomic change of the store that re-checks state and fence
 * (ACT-2) and is durable when its promise resolves; steps that wait at the same time may share a commit.
 * Steps submitted one after another take effect in that order. A store that cannot answer rejects with
 * a `JOURNAL_*` error, and then the step has happened wholly or not at all; with the subject
 * {@link NOTHING_WRITTEN} it certainly has not, and with {@link ANSWER_LOST} asking again is worth while.
 */
export interface JournalProtocol {
  /** A name for one attempt to claim, never given twice by any process. */
  newClaimId(): string;
  /** Writes an intent and claims its scopes, or queues for them; see {@link ClaimAnswer}. */
  claim(request: ClaimRequest): Promise<ClaimAnswer>;
  /** Whether this process may still act on its claims: false once its lease may have run out. */
  holdsLease(): boolean;
  /** Saves a final receipt under the fence it was won with, and frees the scopes. */
  finish(request: FinishRequest): Promise<FinishAnswer>;
  /** Marks a dispatched entry of this fence uncertain; its scopes stay held. False when it was not dispatched. */
  doubt(request: DoubtRequest): Promise<boolean>;
  /** Abandons a prepared entry, whoever waits with it. False when it was not prepared. */
  abandon(operationId: string): Promise<boolean>;
  /**
   * Ends an attempt that will not reach the handler: its prepared entry is abandoned, its dispatched one
   * closed by the given `failed` receipt (ACT-3). Another attempt's entry is left alone.
   */
  withdraw(request: WithdrawRequest): Promise<WithdrawAnswer>;
  /** Looks after owners that died: their dispatched entries become uncertain, their prepared ones abandoned (ACT-5). */
  sweep(): Promise<SweepCount>;
  /** Takes an uncertain entry over under a raised fence, for `holdMs`, or for a person at once. */
  takeOver(request: TakeOverRequest): Promise<TakeOverAnswer>;
  /** Ends a take-over that found nothing out; the raised fence stays. */
  endTakeOver(request: { readonly operationId: string; readonly fence: number }): Promise<void>;
  /** Everything that was kept beside the receipt, oldest first. */
  listEvidence(operationId: string): Promise<readonly JournalEvidence[]>;
  /**
   * Tells when scopes or an operation may have become free: at least once after every such change that
   * this journal made or was notified of. Returns a function that ends it. *Contract*: does not throw.
   */
  onReleased(listener: (released: Released) => void): () => void;
  readonly isClosed: boolean;
  /** How long to wait between looks for changes that other processes made; undefined: all are told. */
  readonly poll: { readonly minMs: number; readonly maxMs: number } | undefined;
  /** How often a waiting dispatcher looks after dead owners; undefined: never, no other process can hold anything. */
  readonly sweepEveryMs: number | undefined;
}

/** One name of what an action touches, in its timeline and generation (ACT-4). */
export interface ConflictScope {
  /** SHA-256, hexadecimal, over key, timeline and generation. */
  readonly id: string;
  readonly key: string;
}

/** An intent that is to be claimed. A claim id stands for one request, however often it is asked. `scopes` are sorted by id and distinct; `intentText` is the intent as JSON. */
export interface ClaimRequest {
  readonly operationId: string;
  readonly claimId: string;
  /** SHA-256, hexadecimal, over what makes intents equal (ACT-7). */
  readonly intentHash: string;
  readonly intentText: string;
  readonly scopes: readonly ConflictScope[];
}

/** What came of a claim. */
export type ClaimAnswer =
  /** Dispatched: the intent is durable, the scopes are this claim's. */
  | { readonly kind: "claimed"; readonly fence: number }
  /** Prepared and in line for its scopes. Ask again when one was released. */
  | { readonly kind: "waiting" }
  /** This claim was in line and somebody abandoned it. */
  | { readonly kind: "withdrawn" }
  /** Another live claim works on the same operation. */
  | { readonly kind: "inFlight" }
  /** Nothing was done because the stored intent names other scopes, and it stands (ACT-7): claim with those. */
  | { readonly kind: "rescoped"; readonly entry: JournalEntry }
  | { readonly kind: "uncertain"; readonly entry: JournalEntry }
  | { readonly kind: "final"; readonly entry: JournalEntry }
  | { readonly kind: "mismatch" }
  | { readonly kind: "forgotten" };

/** A final receipt to save. `evidence` is why a person knows it; it is kept beside the receipt. */
export interface FinishRequest {
  readonly operationId: string;
  readonly fence: number;
  readonly receipt: GameActionReceipt;
  readonly evidence?: JsonValue | undefined;
}

/**
 * Whether the receipt is the stored one now. `overtaken`: a reconciler or person raised the fence; the
 * receipt was kept as evidence, and `entry` is what holds.
 * A different receipt under the same fence rejects with `RECEIPT_IMMUTABLE`.
 */
export type FinishAnswer = { readonly kind: "saved" } | { readonly kind: "overtaken"; readonly entry: JournalEntry };

/** An attempt to end. */
export interface WithdrawRequest {
  readonly operationId: string;
  readonly claimId: string;
  readonly receipt: GameActionReceipt;
}

/** How the attempt ended; `nothing`: the entry is not, or no longer, this attempt's. */
export type WithdrawAnswer = "abandoned" | "closed" | "nothing";

/** A dispatched entry whose outcome is not known; `receipt` has status `uncertain`. */
export interface DoubtRequest {
  readonly operationId: string;
  readonly fence: number;
  readonly receipt: GameActionReceipt;
}

/** How many entries a sweep changed. */
export interface SweepCount {
  readonly uncertain: number;
  readonly abandoned: number;
}

/** Who takes an uncertain entry over: a reconciler for a while, or a person regardless of reconcilers. */
export interface TakeOverRequest {
  readonly operationId: string;
  readonly by: "reconciler" | "person";
  readonly holdMs: number;
}

/** What came of a take-over; `fence` is the raised one. */
export type TakeOverAnswer =
  | { readonly kind: "taken"; readonly entry: JournalEntry }
  /** Another reconciler is at it. */
  | { readonly kind: "busy" }
  /** It is not uncertain. */
  | { readonly kind: "settled"; readonly entry: JournalEntry }
  | { readonly kind: "unknown" };

/**
 * Something kept beside a receipt: a late receipt that no longer counted, why a person closed an entry, or a
 * person's word that no longer counted, as `{ receipt, evidence }`.
 */
export interface JournalEvidence {
  readonly kind: "lateReceipt" | "resolution" | "lateResolution";
  readonly fence: number;
  readonly content: JsonValue;
  readonly atMs: number;
}

/** What may have become free. */
export interface Released {
  readonly operationId: string;
  /** Ids of the scopes. */
  readonly scopes: readonly string[];
}
