/**
 * Conflict scopes and their lines of waiters as rows.
 * Owns: the statements on those tables. Invariants: a scope has one holder; its fence never falls; a
 * waiter's ticket is higher than those before it. Works inside a transaction that others own.
 */
import type { ConflictScope } from "../../domain/journal.ts";
import type { SqliteDatabase, SqliteStatement } from "./driver.ts";
import { checksum, corrupt } from "./entry-table.ts";
import { BrokenStep } from "./sqlite-errors.ts";

/** A scope as it stands; one that was never claimed has fence 0. */
export interface StoredScope {
  readonly id: string;
  readonly name: string;
  readonly fence: number;
  readonly holder: string | null;
  readonly isStored: boolean;
}

/** Somebody who stands in line. */
export interface Waiter {
  readonly operationId: string;
  readonly owner: string;
  readonly seenAtMs: number;
}

interface ScopeRow {
  readonly name: string;
  readonly fence: number;
  readonly holder: string | null;
  readonly checksum: number;
}

/** See the file header. */
export class ScopeTable {
  readonly #find: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #update: SqliteStatement;
  readonly #line: SqliteStatement;
  readonly #lastTicket: SqliteStatement;
  readonly #enter: SqliteStatement;
  readonly #leave: SqliteStatement;
  readonly #seenAt: SqliteStatement;
  readonly #seeAll: SqliteStatement;

  constructor(database: SqliteDatabase) {
    const prepare = (sql: string): SqliteStatement => database.prepare(sql);
    this.#find = prepare("SELECT name, fence, holder, checksum FROM toolkernel_scopes WHERE scope = ?");
    this.#insert = prepare("INSERT INTO toolkernel_scopes VALUES (?, ?, ?, ?, ?)");
    this.#update = prepare(
      "UPDATE toolkernel_scopes SET fence = ?, holder = ?, checksum = ? WHERE scope = ? AND fence = ? AND holder IS ?",
    );
    this.#line = prepare(
      "SELECT operation_id FROM toolkernel_waiters WHERE scope = ? AND seen_at_ms >= ? ORDER BY ticket LIMIT 1",
    );
    this.#lastTicket = prepare("SELECT coalesce(max(ticket), 0) AS ticket FROM toolkernel_waiters WHERE scope = ?");
    this.#enter = prepare("INSERT INTO toolkernel_waiters VALUES (?, ?, ?, ?, ?)");
    this.#leave = prepare("DELETE FROM toolkernel_waiters WHERE operation_id = ?");
    this.#seenAt = prepare("SELECT min(seen_at_ms) AS seen FROM toolkernel_waiters WHERE operation_id = ?");
    this.#seeAll = prepare("UPDATE toolkernel_waiters SET seen_at_ms = ? WHERE owner = ?");
  }

  /** @throws KernelError `JOURNAL_CORRUPT` when the row is not what was written. */
  find({ id, key }: ConflictScope): StoredScope {
    const row = this.#find.get(id) as ScopeRow | undefined; // the columns asked for
    if (row === undefined) return { id, name: key, fence: 0, holder: null, isStored: false };
    if (checksum([id, row.name, row.fence, row.holder]) !== row.checksum) throw corrupt(`conflict scope ${id}`);
    return { id, name: row.name, fence: row.fence, holder: row.holder, isStored: true };
  }

  /** Gives a scope another fence or holder, if it is as it was read. */
  change(read: StoredScope, change: { readonly fence: number; readonly holder: string | null }): void {
    const { id, name } = read;
    const sum = checksum([id, name, change.fence, change.holder]);
    if (!read.isStored) {
      this.#insert.run(id, name, change.fence, change.holder, sum);
      return;
    }
    const { changes } = this.#update.run(change.fence, change.holder, sum, id, read.fence, read.holder);
    if (Number(changes) !== 1) throw new BrokenStep("no row changed");
  }

  /** The operation that is first in line, of those whose process has shown itself since a time. */
  firstInLine(id: string, seenSinceMs: number): string | undefined {
    const row = this.#line.get(id, seenSinceMs) as { readonly operation_id: string } | undefined; // the column asked for
    return row?.operation_id;
  }

  /** Puts somebody at the end of the lines, all of them at once: who is first in one is before the other in all. */
  enterLines(ids: readonly string[], { operationId, owner, seenAtMs }: Waiter): void {
    const last = ids.map((id) => (this.#lastTicket.get(id) as { readonly ticket: number }).ticket); // the column asked for
    for (const [index, id] of ids.entries()) this.#enter.run(id, (last[index] ?? 0) + 1, operationId, owner, seenAtMs);
  }

  /** Takes somebody out of all lines. */
  leaveLines(operationId: string): void {
    this.#leave.run(operationId);
  }

  /** When the process of a waiter has shown itself; undefined for one that stands in no line. */
  seenAtMs(operationId: string): number | undefined {
    const row = this.#seenAt.get(operationId) as { readonly seen: number | null }; // the column asked for
    return row.seen ?? undefined;
  }

  /** Notes that an owner's waiters are alive. */
  seeAll(owner: string, atMs: number): void {
    this.#seeAll.run(atMs, owner);
  }
}
