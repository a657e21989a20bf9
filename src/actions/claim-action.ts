import type { ActionWatch, GameActionIntent } from "../domain/action.ts";
import type { ClaimAnswer, ClaimRequest, JournalEntry, WithdrawAnswer } from "../domain/journal.ts";
import type { ActionLife } from "./action-life.ts";
import { beginLife, type DispatchParts, insistOnStep } from "./dispatch-parts.ts";
import { isPassing } from "./insist.ts";
import { type CheckedIntent, checkIntent } from "./intent.ts";
import { notDispatchedReceipt } from "./receipt.ts";
import { isAnswerLost, mayHaveClaimed, pause } from "./unanswered-claim.ts";
import type { Place, WaitEnd } from "./wait-room.ts";

/** What a dispatch asks for: an intent, and how long it may wait for its scopes. */
export interface ClaimOrder {
  readonly checked: CheckedIntent;
  readonly untilMs: number;
  readonly signal: AbortSignal | undefined;
  readonly watch: ActionWatch | undefined;
}

/** What came of it. `intent` is the one that stands in the journal. */
export type Claimed =
  | {
      readonly kind: "claimed";
      readonly intent: GameActionIntent;
      readonly fence: number;
      readonly scopes: readonly string[];
      readonly life: ActionLife;
    }
  | { readonly kind: "final" | "uncertain"; readonly entry: JournalEntry }
  /** Nothing was dispatched, and the journal says so (ACT-3). */
  | { readonly kind: "notDispatched"; readonly why: "conflictBlocked" | "cancelled"; readonly intent: GameActionIntent }
  /** Somebody else is at this very operation, and what becomes of it is not known here. */
  | { readonly kind: "inFlight"; readonly intent: GameActionIntent }
  | { readonly kind: "mismatch" | "forgotten" };

/**
 * Writes the intent and claims its scopes, waiting in line where it must (ACT-1, ACT-3, ACT-4). Waiting
 * ends by the deadline or the signal, and then the entry is abandoned.
 * @throws KernelError `JOURNAL_*` when the journal could not say whether it is claimed; what was claimed
 * all the same is closed as not dispatched.
 */
export async function claimAction(parts: DispatchParts, order: ClaimOrder): Promise<Claimed> {
  const attempt = new Attempt(parts, order);
  parts.room.arrive();
  try {
    return await attempt.run();
  } catch (error) {
    if (attempt.isInLine || attempt.isInDoubt || mayHaveClaimed(error))
      parts.leftovers.add(() => attempt.withdrawOnce());
    throw error;
  } finally {
    attempt.leave();
    parts.room.depart();
  }
}

const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 1_000;

/**
 * One attempt to claim.
 * Owns: its place in line. Invariant: however it ends, its entry is claimed for the caller, or abandoned
 * or closed, or somebody else's.
 */
class Attempt {
  readonly #parts: DispatchParts;
  readonly #order: ClaimOrder;
  readonly #claimId: string;
  readonly #life: ActionLife;
  #checked: CheckedIntent;
  #place: Place | undefined;
  #news = 0;
  #isInDoubt = false;
  #sweptAtMs: number;

  constructor(parts: DispatchParts, order: ClaimOrder) {
    this.#parts = parts;
    this.#order = order;
    this.#checked = order.checked;
    this.#claimId = parts.journal.protocol.newClaimId();
    this.#life = beginLife(parts, "new", order.watch);
    this.#sweptAtMs = parts.clock.now();
  }

  async run(): Promise<Claimed> {
    for (;;) {
      this.#news = this.#parts.room.news;
      const answer = await this.#ask();
      switch (answer.kind) {
        case "waiting":
        case "inFlight": {
          const end = await this.#wait(answer.kind);
          if (end !== "look") return this.#giveUp(end, answer.kind);
          break;
        }
        case "rescoped":
          this.leave();
          this.#checked = checkIntent(answer.entry.intent);
          break;
        default:
          return this.#end(answer);
      }
    }
  }

  /** Whether its entry has been written, and it was told to wait. */
  get isInLine(): boolean {
    return this.#place !== undefined;
  }

  /** Whether a claim was asked for whose answer was lost, so that it may have been made. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Gives up the place in line, if there is one. */
  leave(): void {
    if (this.#place !== undefined) this.#parts.room.leave(this.#place);
    this.#place = undefined;
  }

  /** Makes sure that this attempt holds nothing. */
  withdrawOnce(): Promise<WithdrawAnswer> {
    const { intent } = this.#checked;
    const receipt = notDispatchedReceipt(intent);
    return this.#parts.journal.protocol.withdraw({ operationId: intent.operationId, claimId: this.#claimId, receipt });
  }

  /**
   * Asks for the claim. A journal that is away for a moment costs it only time where it stands in line, and
   * where the answer was lost: asked again by its claim id, the journal says what became of it. Given up, that
   * operation id would be spent.
   */
  async #ask(): Promise<ClaimAnswer> {
    const { clock, journal } = this.#parts;
    const { signal, untilMs } = this.#order;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
      try {
        return await journal.protocol.claim(this.#request());
      } catch (error) {
        this.#isInDoubt ||= isAnswerLost(error);
        if (!isPassing(error) || journal.protocol.isClosed) throw error;
        if (this.#place !== undefined) return { kind: "waiting" };
        if (!this.#isInDoubt || signal?.aborted === true || clock.now() + delayMs >= untilMs) throw error;
      }
      await pause(clock, delayMs, signal);
    }
  }

  #request(): ClaimRequest {
    const { intent, intentText, intentHash, scopes } = this.#checked;
    return { operationId: intent.operationId, claimId: this.#claimId, intentHash, intentText, scopes };
  }

  async #wait(kind: "waiting" | "inFlight"): Promise<WaitEnd> {
    if (kind === "waiting" && this.#life.state !== "prepared") this.#life.tell("QUEUED");
    this.#place ??= this.#enterLine(kind);
    const end = await this.#place.next();
    if (end === "look") await this.#sweepAtTimes();
    return end;
  }

  #enterLine(kind: "waiting" | "inFlight"): Place {
    const { journal, room } = this.#parts;
    const { intent, scopes } = this.#checked;
    const { operationId } = intent;
    const lines = kind === "waiting" ? scopes.map(({ id }) => id) : [`operation:${operationId}`];
    const { untilMs, signal } = this.#order;
    return room.enter({ operationId, lines, untilMs, signal, poll: journal.protocol.poll, news: this.#news });
  }

  async #sweepAtTimes(): Promise<void> {
    const { clock, journal } = this.#parts;
    const { sweepEveryMs } = journal.protocol;
    if (sweepEveryMs === undefined || clock.now() - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = clock.now();
    try {
      await journal.protocol.sweep();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }

  async #giveUp(end: "deadline" | "cancelled", waitedFor: "waiting" | "inFlight"): Promise<Claimed> {
    await insistOnStep(this.#parts, () => this.withdrawOnce());
    const notDispatched = this.#notDispatched(end === "deadline" ? "conflictBlocked" : "cancelled");
    return waitedFor === "waiting" ? notDispatched : this.#lookAtOther(notDispatched);
  }

  /** What another attempt at this very operation has come to; that it will not be dispatched is certain of an abandoned one alone. */
  async #lookAtOther(notDispatched: Claimed): Promise<Claimed> {
    const { intent } = this.#checked;
    const entry = await this.#parts.journal.find(intent.operationId).catch(() => null);
    if (entry === undefined || entry?.state === "abandoned") return notDispatched;
    if (entry?.receipt !== undefined)
      return { kind: entry.receipt.status === "uncertain" ? "uncertain" : "final", entry };
    return { kind: "inFlight", intent };
  }

  async #end(answer: Exclude<ClaimAnswer, { kind: "waiting" | "inFlight" | "rescoped" }>): Promise<Claimed> {
    switch (answer.kind) {
      case "claimed":
        return this.#claimed(answer.fence);
      case "withdrawn":
        return this.#notDispatched("cancelled");
      case "final":
      case "uncertain":
        return { kind: answer.kind, entry: answer.entry };
      case "mismatch":
      case "forgotten":
        return { kind: answer.kind };
    }
  }

  async #claimed(fence: number): Promise<Claimed> {
    this.#life.tell("CLAIMED");
    const { clock, journal } = this.#parts;
    // A claim that had to wait, or whose process was starved, may come when its time is over (ACT-3).
    const isCancelled = this.#order.signal?.aborted === true;
    const isLate = this.#place !== undefined && clock.now() >= this.#order.untilMs;
    if (isCancelled || isLate || !journal.protocol.holdsLease()) {
      await insistOnStep(this.#parts, () => this.withdrawOnce());
      return this.#notDispatched(isCancelled ? "cancelled" : "conflictBlocked");
    }
    if (this.#place !== undefined) this.#parts.room.leaveHolding(this.#place);
    this.#place = undefined;
    const { intent, scopes } = this.#checked;
    return { kind: "claimed", intent, fence, scopes: scopes.map(({ id }) => id), life: this.#life };
  }

  #notDispatched(why: "conflictBlocked" | "cancelled"): Claimed {
    return { kind: "notDispatched", why, intent: this.#checked.intent };
  }
}
