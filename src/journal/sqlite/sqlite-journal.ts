/**
 * The journal in a SQLite file, for one or several processes of a machine.
 * Owns: nothing but its store. Does not own: the rules, which `judge-steps` has, nor waiting, which the
 * dispatcher does. Upholds: ACT-1, ACT-2, ACT-4, ACT-5, ACT-10, ACT-11.
 */
import { randomBytes } from "node:crypto";
import type {
  ClaimAnswer,
  ClaimRequest,
  DoubtRequest,
  FinishAnswer,
  FinishRequest,
  Journal,
  JournalEntry,
  JournalEvidence,
  JournalPage,
  JournalProtocol,
  ListOpenOptions,
  Released,
  SweepCount,
  TakeOverAnswer,
  TakeOverRequest,
  WithdrawAnswer,
  WithdrawRequest,
} from "../../domain/journal.ts";
import { isName } from "../../domain/names.ts";
import type { Clock } from "../../domain/ports.ts";
import { readPage, readTimeBefore } from "../keeping-options.ts";
import { pageOf } from "../list-page.ts";
import { ReleasedSignal } from "../released-signal.ts";
import { readEntry } from "../stored-entry.ts";
import { claimStep, stillWaits } from "./claim-step.ts";
import { abandonStep, doubtStep, endTakeOverStep, finishStep, takeOverStep, withdrawStep } from "./ending-steps.ts";
import { lookForOld, pruneStep } from "./keeping-steps.ts";
import { inNextTurn } from "./next-turn.ts";
import type { OpenDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** What a journal is made of. */
export interface SqliteJournalParts {
  readonly path: string;
  readonly opened: OpenDatabase;
  readonly clock: Clock;
  readonly sweepEveryMs: number;
}

/** How often a waiting dispatcher looks for what other processes released. */
const POLL = Object.freeze({ minMs: 1, maxMs: 10 });

/** See the file header. */
export class SqliteJournal implements Journal, JournalProtocol {
  readonly protocol: JournalProtocol = this;
  readonly poll = POLL;
  readonly sweepEveryMs: number;
  readonly #store: SqliteStore;
  readonly #released = new ReleasedSignal();
  readonly #name = randomBytes(16).toString("hex");
  /** Attempts that were last told to wait. */
  readonly #inLine = new Set<string>();
  #claims = 0;

  constructor({ path, opened, clock, sweepEveryMs }: SqliteJournalParts) {
    this.sweepEveryMs = sweepEveryMs;
    this.#store = new SqliteStore({ path, opened, clock, onReleased: (released) => this.#released.tell(released) });
  }

  get isClosed(): boolean {
    return this.#store.isClosed;
  }

  holdsLease(): boolean {
    // The lock is this process's until it ends, however long it sleeps.
    return !this.#store.isClosed;
  }

  newClaimId(): string {
    this.#claims += 1;
    return `${this.#name}:${this.#claims}`;
  }

  onReleased(listener: (released: Released) => void): () => void {
    return this.#released.add(listener);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (await this.#isInVain(request)) return { kind: "waiting" };
    const ports = { owner: () => this.#store.owner(), checkSpace: () => this.#store.checkSpace() };
    const answer = await this.#store.write(() => claimStep(this.#store.ledger, request, ports));
    if (answer.kind === "waiting") this.#inLine.add(request.claimId);
    else this.#inLine.delete(request.claimId);
    return answer;
  }

  finish(request: FinishRequest): Promise<FinishAnswer> {
    return this.#store.write(() => finishStep(this.#store.ledger, request));
  }

  doubt(request: DoubtRequest): Promise<boolean> {
    return this.#store.write(() => doubtStep(this.#store.ledger, request));
  }

  abandon(operationId: string): Promise<boolean> {
    return this.#store.write(() => isName(operationId) && abandonStep(this.#store.ledger, operationId));
  }

  withdraw(request: WithdrawRequest): Promise<WithdrawAnswer> {
    this.#inLine.delete(request.claimId);
    return this.#store.write(() => withdrawStep(this.#store.ledger, request));
  }

  sweep(): Promise<SweepCount> {
    return this.#store.sweep();
  }

  takeOver(request: TakeOverRequest): Promise<TakeOverAnswer> {
    return this.#store.write(() =>
      isName(request.operationId) ? takeOverStep(this.#store.ledger, request) : { kind: "unknown" },
    );
  }

  endTakeOver({ operationId, fence }: { readonly operationId: string; readonly fence: number }): Promise<void> {
    return this.#store.write(() => endTakeOverStep(this.#store.ledger, operationId, fence));
  }

  listEvidence(operationId: string): Promise<readonly JournalEvidence[]> {
    return this.#store.read(() => (isName(operationId) ? this.#store.ledger.entries.listEvidence(operationId) : []));
  }

  find(operationId: string): Promise<JournalEntry | undefined> {
    return this.#store.read(() => {
      const stored = isName(operationId) ? this.#store.ledger.entries.find(operationId) : undefined;
      return stored && readEntry(stored);
    });
  }

  async listOpen(options: ListOpenOptions): Promise<JournalPage> {
    const { limit, after } = readPage(options);
    return this.#store.read(() => pageOf(this.#store.ledger.entries.listOpen(after, limit + 1), limit));
  }

  async prune(options: { readonly finalBefore: number }): Promise<number> {
    const finalBefore = readTimeBefore(options, "finalBefore");
    const { ledger } = this.#store;
    const to = await this.#store.read(() => ledger.entries.lastPlace());
    let pruned = 0;
    for (let after = 0; after < to; ) {
      const { stretch, after: next } = await this.#store.read(() => lookForOld(ledger, { after, to }, finalBefore));
      if (stretch !== undefined) pruned += await this.#store.write(() => pruneStep(ledger, stretch, finalBefore));
      else await new Promise<void>(inNextTurn); // others have their turn between two looks
      after = next;
    }
    return pruned;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Those who wait look often, and mostly in vain; a step that is under way may change what they find. */
  async #isInVain(request: ClaimRequest): Promise<boolean> {
    if (!this.#inLine.has(request.claimId) || !this.#store.isIdle) return false;
    return this.#store.read(() => stillWaits(this.#store.ledger, request));
  }
}
