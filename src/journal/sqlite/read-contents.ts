/**
 * Everything that stands in a SQLite store, page by page, each row held to its checksum. Works inside a
 * transaction that others own, in which nothing is open and nobody holds anything.
 */
import type { JournalEvidence } from "../../domain/journal.ts";
import { runCorrupt } from "../run-store/run-errors.ts";
import type { EvidenceContents, RunContents, ScopeContents, StoreContents } from "../store-contents.ts";
import type { StoredEntry } from "../stored-entry.ts";
import type { SqliteDatabase } from "./driver.ts";
import { EntryTable } from "./entry-table.ts";
import { RunTable } from "./run-table.ts";
import { ScopeTable } from "./scope-table.ts";

/** Entries can be large, and there is one page of them at a time. */
const PAGE = 100;

/** See the file header. */
export class SqliteContents implements StoreContents {
  readonly #database: SqliteDatabase;
  readonly #entries: EntryTable;
  readonly #scopes: ScopeTable;
  readonly #runs: RunTable;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#entries = new EntryTable(database);
    this.#scopes = new ScopeTable(database);
    this.#runs = new RunTable(database);
  }

  *entries(): Iterable<readonly StoredEntry[]> {
    for (const ids of this.#keys("toolkernel_entries", "operation_id")) {
      yield ids.flatMap((id) => this.#entries.find(id) ?? []);
    }
  }

  *scopes(): Iterable<readonly ScopeContents[]> {
    for (const ids of this.#keys("toolkernel_scopes", "scope")) {
      yield ids.map((id) => this.#scopes.find({ id, key: "" }));
    }
  }

  *evidence(): Iterable<readonly EvidenceContents[]> {
    for (const ids of this.#keys("toolkernel_evidence", "operation_id")) {
      yield ids.flatMap((operationId) =>
        this.#entries.listEvidence(operationId).map((each: JournalEvidence) => ({ ...each, operationId })),
      );
    }
  }

  *runs(): Iterable<RunContents> {
    for (const ids of this.#keys("toolkernel_runs", "run_id")) {
      yield* ids.flatMap((id) => this.#runs.find(id) ?? []);
    }
  }

  facts(runId: string): readonly string[] {
    const run = this.#runs.find(runId);
    if (run === undefined) throw runCorrupt(runId);
    return this.#runs.readFacts(run);
  }

  /** The distinct keys of a table in order, page by page. */
  *#keys(table: string, column: string): Iterable<readonly string[]> {
    const page = this.#database.prepare(
      `SELECT DISTINCT ${column} AS key FROM ${table} WHERE ${column} > ? ORDER BY ${column} LIMIT ${PAGE}`,
    );
    for (let after = ""; ; ) {
      const keys = (page.all(after) as { readonly key: string }[]).map(({ key }) => key); // the column asked for
      const last = keys.at(-1);
      if (last === undefined) return;
      yield keys;
      after = last;
    }
  }
}
