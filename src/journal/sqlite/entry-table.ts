/**
 * Entries and evidence as rows.
 * Owns: the statements on `toolkernel_entries` and `toolkernel_evidence`. Invariants: every row carries a
 * checksum that is verified whenever it is read (ACT-11); every change re-checks the state and fence that
 * were read, and changing no row is an error (ACT-2). Works inside a transaction that others own.
 */
import { crc32 } from "node:zlib";
import { KernelError } from "../../domain/errors.ts";
import type { JournalEvidence, JournalState } from "../../domain/journal.ts";
import type { StoredEntry } from "../stored-entry.ts";
import type { SqliteDatabase, SqliteStatement } from "./driver.ts";
import { BrokenStep } from "./sqlite-errors.ts";

interface EntryRow {
  readonly operation_id: string;
  readonly state: JournalState;
  readonly fence: number;
  readonly owner: string;
  readonly claim_id: string;
  readonly intent_hash: string;
  readonly intent: string;
  readonly scopes: string;
  readonly receipt: string | null;
  readonly held_until_ms: number | null;
  readonly is_forgotten: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly checksum: number;
}

interface EvidenceRow {
  readonly kind: JournalEvidence["kind"];
  readonly fence: number;
  readonly content: string;
  readonly at_ms: number;
  readonly checksum: number;
}

const OPEN = "state IN ('prepared', 'dispatched', 'uncertain')";
const OLD = `WHERE rowid > ? AND rowid <= ? AND state IN ('committed', 'rejected', 'failed') AND is_forgotten = 0
  AND updated_at_ms < ?`;

/** Some entries, in the order in which they were made: those after one place, up to another. */
export interface Stretch {
  readonly after: number;
  readonly to: number;
}

/** See the file header. */
export class EntryTable {
  readonly #find: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #update: SqliteStatement;
  readonly #listOpen: SqliteStatement;
  readonly #listOpenOf: SqliteStatement;
  readonly #listOwners: SqliteStatement;
  readonly #lastPlace: SqliteStatement;
  readonly #placesOld: SqliteStatement;
  readonly #listOld: SqliteStatement;
  readonly #addEvidence: SqliteStatement;
  readonly #listEvidence: SqliteStatement;
  readonly #dropEvidence: SqliteStatement;

  constructor(database: SqliteDatabase) {
    const prepare = (sql: string): SqliteStatement => database.prepare(sql);
    this.#find = prepare("SELECT * FROM toolkernel_entries WHERE operation_id = ?");
    this.#insert = prepare("INSERT INTO toolkernel_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#update = prepare(
      `UPDATE toolkernel_entries SET state = ?, fence = ?, owner = ?, claim_id = ?, intent = ?, scopes = ?, receipt = ?,
       held_until_ms = ?, is_forgotten = ?, updated_at_ms = ?, checksum = ? WHERE operation_id = ? AND state = ? AND fence = ?`,
    );
    this.#listOpen = prepare(
      `SELECT * FROM toolkernel_entries WHERE ${OPEN} AND operation_id > ? ORDER BY operation_id LIMIT ?`,
    );
    this.#listOpenOf = prepare(`SELECT * FROM toolkernel_entries WHERE ${OPEN} AND owner = ?`);
    this.#listOwners = prepare(`SELECT DISTINCT owner FROM toolkernel_entries WHERE ${OPEN} AND state <> 'uncertain'`);
    this.#lastPlace = prepare("SELECT coalesce(max(rowid), 0) AS place FROM toolkernel_entries");
    this.#placesOld = prepare(`SELECT rowid AS place FROM toolkernel_entries ${OLD} ORDER BY rowid LIMIT ?`);
    this.#listOld = prepare(`SELECT * FROM toolkernel_entries ${OLD}`);
    this.#addEvidence = prepare("INSERT INTO toolkernel_evidence VALUES (NULL, ?, ?, ?, ?, ?, ?)");
    this.#listEvidence = prepare("SELECT * FROM toolkernel_evidence WHERE operation_id = ? ORDER BY place");
    this.#dropEvidence = prepare("DELETE FROM toolkernel_evidence WHERE operation_id = ?");
  }

  /** @throws KernelError `JOURNAL_CORRUPT` when the row is not what was written. */
  find(operationId: string): StoredEntry | undefined {
    const row = this.#find.get(operationId) as EntryRow | undefined; // the table's columns
    return row && readRow(row);
  }

  /** Open entries after an id, in order of their ids. */
  listOpen(after: string, limit: number): StoredEntry[] {
    return (this.#listOpen.all(after, limit) as EntryRow[]).map(readRow); // the table's columns
  }

  /** Open entries that an owner has. */
  listOpenOf(owner: string): StoredEntry[] {
    return (this.#listOpenOf.all(owner) as EntryRow[]).map(readRow); // the table's columns
  }

  /** Every owner that has something prepared or dispatched. */
  listOwners(): string[] {
    return (this.#listOwners.all() as { readonly owner: string }[]).map(({ owner }) => owner); // the column asked for
  }

  /** The place of the newest entry. */
  lastPlace(): number {
    return (this.#lastPlace.get() as { readonly place: number }).place; // the column asked for
  }

  /** Where in a stretch there are final entries last changed before a time that still know their arguments. */
  placesOld({ after, to }: Stretch, finalBefore: number, limit: number): number[] {
    const rows = this.#placesOld.all(after, to, finalBefore, limit) as { readonly place: number }[]; // the column asked for
    return rows.map(({ place }) => place);
  }

  /** The entries of such places. */
  listOld({ after, to }: Stretch, finalBefore: number): StoredEntry[] {
    return (this.#listOld.all(after, to, finalBefore) as EntryRow[]).map(readRow); // the table's columns
  }

  /** Writes a new entry. */
  insert(entry: StoredEntry): void {
    const { operationId, state, fence, owner, claimId, intentHash, intentText, createdAtMs } = entry;
    this.#insert.run(
      operationId,
      state,
      fence,
      owner,
      claimId,
      intentHash,
      intentText,
      ...tailOf(entry, createdAtMs),
      checksumOf(entry),
    );
  }

  /** Writes an entry over the one that was read. */
  update(read: StoredEntry, entry: StoredEntry): void {
    const { state, fence, owner, claimId, intentText, scopes, receiptText, heldUntilMs, isForgotten, updatedAtMs } =
      entry;
    const { changes } = this.#update.run(
      ...[state, fence, owner, claimId, intentText, scopes.join(" "), receiptText, heldUntilMs, Number(isForgotten)],
      ...[updatedAtMs, checksumOf(entry), read.operationId, read.state, read.fence],
    );
    if (Number(changes) !== 1) throw new BrokenStep("no row changed");
  }

  /** Keeps something beside the receipt of an operation. */
  addEvidence(operationId: string, { kind, fence, content, atMs }: JournalEvidence): void {
    const text = JSON.stringify(content);
    this.#addEvidence.run(operationId, kind, fence, text, atMs, checksum([kind, fence, text, atMs]));
  }

  /** @throws KernelError `JOURNAL_CORRUPT` when a row is not what was written. */
  listEvidence(operationId: string): JournalEvidence[] {
    const rows = this.#listEvidence.all(operationId) as EvidenceRow[]; // the table's columns
    return rows.map(({ kind, fence, content, at_ms: atMs, checksum: written }) => {
      if (checksum([kind, fence, content, atMs]) !== written) throw corrupt(`operation ${operationId}`);
      return { kind, fence, content: JSON.parse(content), atMs };
    });
  }

  /** Forgets what was kept beside a receipt. */
  dropEvidence(operationId: string): void {
    this.#dropEvidence.run(operationId);
  }
}

/** CRC-32 over values as JSON; what every row carries. */
export function checksum(values: readonly (string | number | boolean | null)[]): number {
  return crc32(JSON.stringify(values));
}

/** The error for a row that is not what was written; `subject` says of what, as in `operation a`. */
export function corrupt(subject: string): KernelError {
  return new KernelError(
    "JOURNAL_CORRUPT",
    `What the journal holds of ${subject} is not what was written. Nothing is dispatched on it; restore the journal from a copy.`,
    { subject },
  );
}

function tailOf(
  entry: StoredEntry,
  createdAtMs: number,
): [string, string | null, number | null, number, number, number] {
  const { scopes, receiptText, heldUntilMs, isForgotten, updatedAtMs } = entry;
  return [scopes.join(" "), receiptText, heldUntilMs, Number(isForgotten), createdAtMs, updatedAtMs];
}

function readRow(row: EntryRow): StoredEntry {
  const entry: StoredEntry = {
    operationId: row.operation_id,
    state: row.state,
    fence: row.fence,
    owner: row.owner,
    claimId: row.claim_id,
    intentHash: row.intent_hash,
    intentText: row.intent,
    scopes: row.scopes === "" ? [] : row.scopes.split(" "),
    receiptText: row.receipt,
    heldUntilMs: row.held_until_ms,
    isForgotten: row.is_forgotten === 1,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
  if (checksumOf(entry) !== row.checksum) throw corrupt(`operation ${row.operation_id}`);
  return entry;
}

function checksumOf(entry: StoredEntry): number {
  const { operationId, state, fence, owner, claimId, intentHash, intentText, createdAtMs } = entry;
  return checksum([operationId, state, fence, owner, claimId, intentHash, intentText, ...tailOf(entry, createdAtMs)]);
}
