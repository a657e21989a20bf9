/**
 * The tables of a journal, and what one transaction has done to them.
 * Owns: the entry and scope tables, and the note of writes and releases since {@link Ledger.reset}. Does
 * not own: the transaction. Upholds: ACT-2, through the tables.
 */
import type { ClaimRequest, Released } from "../../domain/journal.ts";
import { unknownOperation } from "../judge-steps.ts";
import { type AttemptFacts, newAttempt, type StoredEntry } from "../stored-entry.ts";
import type { SqliteDatabase } from "./driver.ts";
import { EntryTable } from "./entry-table.ts";
import { ScopeTable, type StoredScope } from "./scope-table.ts";

/** Under what an attempt is written; the time is the ledger's. */
export type Put = Omit<AttemptFacts, "nowMs">;

/** See the file header. */
export class Ledger {
  readonly entries: EntryTable;
  readonly scopes: ScopeTable;
  readonly now: () => number;
  #hasWritten = false;
  #released: Released[] = [];

  constructor(database: SqliteDatabase, now: () => number) {
    this.entries = new EntryTable(database);
    this.scopes = new ScopeTable(database);
    this.now = now;
  }

  /** Forgets what was noted; a transaction begins. */
  reset(): void {
    this.#hasWritten = false;
    this.#released = [];
  }

  /** Whether anything was written since the last {@link reset}. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** What was released since the last {@link reset}. */
  get released(): readonly Released[] {
    return this.#released;
  }

  /** Notes a write that was made on a table directly. */
  noteWrite(): void {
    this.#hasWritten = true;
  }

  /** Notes that those who wait for an entry or its scopes should look. */
  noteRelease({ operationId, scopes }: StoredEntry): void {
    this.#released.push({ operationId, scopes });
  }

  /** @throws KernelError `OPERATION_UNKNOWN` */
  need(operationId: string): StoredEntry {
    const stored = this.entries.find(operationId);
    if (stored === undefined) throw unknownOperation(operationId);
    return stored;
  }

  /** The scopes an entry names. */
  scopesOf(stored: StoredEntry): StoredScope[] {
    return stored.scopes.map((id) => this.scopes.find({ id, key: "" }));
  }

  /** Writes an attempt. */
  put(request: ClaimRequest, facts: Put): void {
    this.#hasWritten = true;
    const entry = newAttempt(request, { ...facts, nowMs: this.now() });
    if (facts.stored === undefined) this.entries.insert(entry);
    else this.entries.update(facts.stored, entry);
  }

  /** Changes an entry; the answer is what stands there now. */
  change(stored: StoredEntry, change: Partial<StoredEntry>): StoredEntry {
    this.#hasWritten = true;
    const changed = { ...stored, ...change, updatedAtMs: this.now() };
    this.entries.update(stored, changed);
    return changed;
  }
}
