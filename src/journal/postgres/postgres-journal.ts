/**
 * The journal in PostgreSQL, for many processes and hosts.
 * Owns: nothing but its store. Does not own: the rules, which the database and `judge-steps` have, nor
 * waiting, which the dispatcher does. Upholds: ACT-1, ACT-2, ACT-4, ACT-5, ACT-10, ACT-11.
 */
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
import { checkReceipt, judgeFinish, overtakenEvidence, unknownOperation } from "../judge-steps.ts";
import { readPage, readTimeBefore } from "../keeping-options.ts";
import { pageOf } from "../list-page.ts";
import { ReleasedSignal } from "../released-signal.ts";
import { readEntry } from "../stored-entry.ts";
import { isFinalState } from "../transitions.ts";
import { entryColumns, readEntryRow } from "./entry-rows.ts";
import { PostgresStore, type PostgresStoreParts } from "./postgres-store.ts";
import { pruneEntries } from "./prune-entries.ts";

/** What a journal is made of. */
export interface PostgresJournalParts extends Omit<PostgresStoreParts, "onReleased"> {
  /** A name of this process that no other has. */
  readonly name: string;
}

/** How often a waiting dispatcher looks for what it was not told. */
const POLL = Object.freeze({ minMs: 5, maxMs: 250 });

/** See the file header. */
export class PostgresJournal implements Journal, JournalProtocol {
  readonly protocol: JournalProtocol = this;
  readonly poll = POLL;
  readonly sweepEveryMs: number;
  readonly #store: PostgresStore;
  readonly #released = new ReleasedSignal();
  readonly #name: string;
  #claims = 0;

  constructor(parts: PostgresJournalParts) {
    this.sweepEveryMs = parts.lease.heartbeatMs;
    this.#name = parts.name;
    this.#store = new PostgresStore({ ...parts, onReleased: (released) => this.#released.tell(released) });
  }

  get isClosed(): boolean {
    return this.#store.isClosed;
  }

  holdsLease(): boolean {
    return !this.#store.isClosed && this.#store.lease.isHeld();
  }

  newClaimId(): string {
    this.#claims += 1;
    return `${this.#name}:${this.#claims}`;
  }

  onReleased(listener: (released: Released) => void): () => void {
    return this.#released.add(listener);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const { kind, fence } = await this.#store.claim(request);
    switch (kind) {
      case "claimed":
        return { kind, fence };
      case "waiting":
      case "inFlight":
      case "withdrawn":
      case "mismatch":
      case "forgotten":
        return { kind };
      default:
        return this.#lookAtStored(request, kind);
    }
  }

  async finish(request: FinishRequest): Promise<FinishAnswer> {
    checkReceipt(request.operationId, request.receipt);
    for (;;) {
      const { kind } = await this.#store.end(request);
      if (kind === "saved") return { kind };
      const stored = await this.#store.find(request.operationId);
      if (stored === undefined) throw unknownOperation(request.operationId);
      const verdict = judgeFinish(stored, request);
      if (verdict === "save") continue; // it came to be so between the two looks
      await this.#store.release(request.operationId);
      if (verdict === "alreadySaved") return { kind: "saved" };
      await this.#addOvertaken(request);
      return { kind: "overtaken", entry: readEntry(stored) };
    }
  }

  async doubt(request: DoubtRequest): Promise<boolean> {
    return (await this.#store.end(request)).kind === "saved";
  }

  async abandon(operationId: string): Promise<boolean> {
    if (!isName(operationId)) return false;
    return (await this.#withdraw(operationId, null, null)) === "abandoned";
  }

  withdraw({ operationId, claimId, receipt }: WithdrawRequest): Promise<WithdrawAnswer> {
    this.#store.leaveLine(claimId);
    return this.#withdraw(operationId, claimId, JSON.stringify(receipt));
  }

  async sweep(): Promise<SweepCount> {
    const rows = await this.#store.repeatable(`SELECT * FROM ${this.#store.schema}.sweep()`);
    for (const row of rows) {
      const scopes = row.swept_scopes as readonly string[]; // an array of strings
      this.#released.tell({ operationId: String(row.swept_operation), scopes });
    }
    const uncertain = rows.filter((row) => row.swept_state === "uncertain").length;
    return { uncertain, abandoned: rows.length - uncertain };
  }

  async takeOver({ operationId, by, holdMs }: TakeOverRequest): Promise<TakeOverAnswer> {
    if (!isName(operationId)) return { kind: "unknown" };
    const [row] = await this.#store.once(
      `SELECT t.kind, ${entryColumns(this.#store.schema, "(t.entry)")} FROM ${this.#store.schema}.take_over($1, $2, $3) t`,
      operationId,
      by === "person",
      holdMs,
    );
    if (row?.kind === "busy") return { kind: "busy" };
    if (row === undefined || (row.kind !== "taken" && row.kind !== "settled")) return { kind: "unknown" };
    return { kind: row.kind, entry: readEntry(readEntryRow(row)) };
  }

  async endTakeOver({ operationId, fence }: { readonly operationId: string; readonly fence: number }): Promise<void> {
    const rows = await this.#store.repeatable(
      `UPDATE ${this.#store.schema}.entries SET held_until = NULL WHERE operation_id = $1 AND fence = $2 AND state = 'uncertain'
       RETURNING scopes`,
      operationId,
      fence,
    );
    if (rows.length > 0) await this.#store.release(operationId);
  }

  async listEvidence(operationId: string): Promise<readonly JournalEvidence[]> {
    return isName(operationId) ? this.#store.listEvidence(operationId) : [];
  }

  async find(operationId: string): Promise<JournalEntry | undefined> {
    const stored = isName(operationId) ? await this.#store.find(operationId) : undefined;
    return stored && readEntry(stored);
  }

  async listOpen(options: ListOpenOptions): Promise<JournalPage> {
    const { limit, after } = readPage(options);
    const rows = await this.#store.repeatable(
      `SELECT ${entryColumns(this.#store.schema, "e")} FROM ${this.#store.schema}.entries e
       WHERE state IN ('prepared', 'dispatched', 'uncertain') AND operation_id > $1 ORDER BY operation_id LIMIT $2`,
      after,
      limit + 1,
    );
    return pageOf(rows.map(readEntryRow), limit);
  }

  async prune(options: { readonly finalBefore: number }): Promise<number> {
    return pruneEntries(this.#store, readTimeBefore(options, "finalBefore"));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What stands in the journal, for a claim that did nothing; it may have changed since. */
  async #lookAtStored(request: ClaimRequest, kind: string): Promise<ClaimAnswer> {
    const stored = await this.#store.find(request.operationId);
    if (stored === undefined) throw unknownOperation(request.operationId);
    if (stored.isForgotten) return { kind: "forgotten" };
    const entry = readEntry(stored);
    if (isFinalState(stored.state)) return { kind: "final", entry };
    if (stored.state === "uncertain") return { kind: "uncertain", entry };
    return kind === "rescoped" ? { kind, entry } : { kind: "inFlight" };
  }

  async #withdraw(operationId: string, claimId: string | null, receipt: string | null): Promise<WithdrawAnswer> {
    const [row] = await this.#store.repeatable(
      `SELECT ${this.#store.schema}.withdraw($1, $2, $3) AS answer`,
      operationId,
      claimId,
      receipt,
    );
    const answer = row?.answer;
    if (answer !== "abandoned" && answer !== "closed") return "nothing";
    await this.#store.release(operationId);
    return answer;
  }

  async #addOvertaken(request: FinishRequest): Promise<void> {
    const { kind, fence, content } = overtakenEvidence(request);
    await this.#store.once(
      `SELECT ${this.#store.schema}.add_evidence($1, $2, $3, $4)`,
      request.operationId,
      kind,
      fence,
      JSON.stringify(content),
    );
  }
}
