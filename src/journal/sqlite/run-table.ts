/**
 * Runs and facts as rows.
 * Owns: the statements on `toolkernel_runs` and `toolkernel_facts`, and the note of writes since
 * {@link RunTable.reset}. Invariants: every row carries a checksum that is verified whenever it is read, and
 * a run knows how many facts it has (ACT-11); every change re-checks the fence and the count that were read,
 * and changing no row is an error (RUN-6). Works inside a transaction that others own.
 */
import { crc32 } from "node:zlib";
import type { RunProgress, StoredRunStatus } from "../../domain/run-store.ts";
import { runCorrupt } from "../run-store/run-errors.ts";
import type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver.ts";
import { checksum } from "./entry-table.ts";
import { BrokenStep } from "./sqlite-errors.ts";

/** A run as its row says it. */
export interface KeptRun extends RunProgress {
  readonly runId: string;
  /** How many facts it has. */
  readonly facts: number;
  readonly fence: number;
  /** Null when nobody holds it. */
  readonly owner: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

interface RunRow {
  readonly run_id: string;
  readonly status: StoredRunStatus;
  readonly turn: number;
  readonly facts: number;
  readonly fence: number;
  readonly owner: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly checksum: number;
}

interface FactRow {
  readonly seq: number;
  readonly body: string;
  readonly checksum: number;
}

const IS_OPEN = "status IN ('running', 'awaitingApproval')";

/** See the file header. */
export class RunTable {
  readonly #find: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #update: SqliteStatement;
  readonly #remove: SqliteStatement;
  readonly #listOpen: SqliteStatement;
  readonly #listEnded: SqliteStatement;
  readonly #listOwners: SqliteStatement;
  readonly #readFacts: SqliteStatement;
  readonly #addFact: SqliteStatement;
  readonly #removeFacts: SqliteStatement;
  #hasWritten = false;

  constructor(database: SqliteDatabase) {
    const prepare = (sql: string): SqliteStatement => database.prepare(sql);
    this.#find = prepare("SELECT * FROM toolkernel_runs WHERE run_id = ?");
    this.#insert = prepare("INSERT INTO toolkernel_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#update = prepare(
      `UPDATE toolkernel_runs SET status = ?, turn = ?, facts = ?, fence = ?, owner = ?, updated_at_ms = ?, checksum = ?
       WHERE run_id = ? AND fence = ? AND facts = ?`,
    );
    this.#remove = prepare("DELETE FROM toolkernel_runs WHERE run_id = ? AND fence = ?");
    this.#listOpen = prepare(`SELECT * FROM toolkernel_runs WHERE ${IS_OPEN} AND run_id > ? ORDER BY run_id LIMIT ?`);
    this.#listEnded = prepare(
      `SELECT * FROM toolkernel_runs WHERE NOT ${IS_OPEN} AND updated_at_ms < ? AND run_id > ? ORDER BY run_id LIMIT ?`,
    );
    this.#listOwners = prepare("SELECT DISTINCT owner FROM toolkernel_runs WHERE owner IS NOT NULL");
    this.#readFacts = prepare("SELECT seq, body, checksum FROM toolkernel_facts WHERE run_id = ? ORDER BY seq");
    this.#addFact = prepare("INSERT INTO toolkernel_facts VALUES (?, ?, ?, ?)");
    this.#removeFacts = prepare("DELETE FROM toolkernel_facts WHERE run_id = ?");
  }

  /** Forgets what was noted; a transaction begins. */
  reset(): void {
    this.#hasWritten = false;
  }

  /** Whether anything was written since the last {@link reset}. */
  hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** @throws KernelError `JOURNAL_CORRUPT` when the row is not what was written. */
  find(runId: string): KeptRun | undefined {
    const row = this.#find.get(runId) as RunRow | undefined; // the table's columns
    return row && readRow(row);
  }

  /** Open runs after an id, in order of their ids. */
  listOpen(after: string, limit: number): KeptRun[] {
    return (this.#listOpen.all(after, limit) as RunRow[]).map(readRow); // the table's columns
  }

  /** Runs after an id that ended before a time, in order of their ids. */
  listEnded(endedBefore: number, after: string, limit: number): KeptRun[] {
    return (this.#listEnded.all(endedBefore, after, limit) as RunRow[]).map(readRow); // the table's columns
  }

  /** Every owner that has a run. */
  listOwners(): string[] {
    return (this.#listOwners.all() as { readonly owner: string }[]).map(({ owner }) => owner); // the column asked for
  }

  /** @throws KernelError `JOURNAL_CORRUPT` when a fact is missing or not what was written. */
  readFacts({ runId, facts }: KeptRun): string[] {
    const rows = this.#readFacts.all(runId) as FactRow[]; // the columns asked for
    const isWhole = (row: FactRow, index: number): boolean =>
      row.seq === index + 1 && row.checksum === factChecksum(runId, row.seq, row.body);
    if (rows.length !== facts || !rows.every(isWhole)) throw runCorrupt(runId);
    return rows.map(({ body }) => body);
  }

  /** Writes a new run. */
  insert(run: KeptRun): void {
    this.#hasWritten = true;
    const { runId, status, turn, facts, fence, owner, createdAtMs, updatedAtMs } = run;
    this.#insert.run(runId, status, turn, facts, fence, owner, createdAtMs, updatedAtMs, rowChecksum(run));
  }

  /** Writes a run over the one that was read. */
  update(read: KeptRun, change: Partial<KeptRun>): void {
    this.#hasWritten = true;
    const run = { ...read, ...change };
    const { status, turn, facts, fence, owner, updatedAtMs } = run;
    const values: SqliteValue[] = [status, turn, facts, fence, owner, updatedAtMs, rowChecksum(run)];
    expectOne(this.#update.run(...values, read.runId, read.fence, read.facts));
  }

  /** Records facts after those a run has; its row is the caller's to change. */
  addFacts({ runId, facts }: KeptRun, texts: readonly string[]): void {
    this.#hasWritten = true;
    for (const [index, text] of texts.entries()) {
      const seq = facts + index + 1;
      this.#addFact.run(runId, seq, text, factChecksum(runId, seq, text));
    }
  }

  /** Removes a run with its facts. */
  remove({ runId, fence }: KeptRun): void {
    this.#hasWritten = true;
    expectOne(this.#remove.run(runId, fence));
    this.#removeFacts.run(runId);
  }
}

function expectOne({ changes }: { readonly changes: number | bigint }): void {
  if (Number(changes) !== 1) throw new BrokenStep("no row changed");
}

function readRow(row: RunRow): KeptRun {
  const { run_id: runId, status, turn, facts, fence, owner } = row;
  const run = {
    runId,
    status,
    turn,
    facts,
    fence,
    owner,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
  if (rowChecksum(run) !== row.checksum) throw runCorrupt(runId);
  return run;
}

function rowChecksum({ runId, status, turn, facts, fence, owner, createdAtMs, updatedAtMs }: KeptRun): number {
  return checksum([runId, status, turn, facts, fence, owner, createdAtMs, updatedAtMs]);
}

/** Over the text itself and where it stands; facts can be large. */
function factChecksum(runId: string, seq: number, body: string): number {
  return crc32(body, crc32(JSON.stringify([runId, seq])));
}
