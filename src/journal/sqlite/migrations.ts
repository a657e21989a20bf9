import { renameSync, rmSync } from "node:fs";
import { KernelError } from "../../domain/errors.ts";
import { openDatabase } from "./connection.ts";
import type { SqliteClass, SqliteDatabase } from "./driver.ts";
import { syncDirectory } from "./file-system.ts";
import { rollBack } from "./rollback.ts";
import { JOURNAL_001 } from "./sql/001-journal.ts";
import { RUNS_002 } from "./sql/002-runs.ts";

/**
 * Every step from an empty file to today's schema, in order; the file's `user_version` counts them. One
 * numbering for all that toolkernel keeps in a file, since journal and run store may share one.
 */
export const MIGRATIONS: readonly string[] = Object.freeze([JOURNAL_001, RUNS_002]);

/** What to migrate, and by which steps. */
export interface MigrationRequest {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly migrations: readonly string[];
}

/**
 * Brings a file to today's schema, in one transaction under the write lock, so that of several processes
 * one does it. A file that holds an older schema is copied to `<path>-before-<version>` first, durably.
 * @throws KernelError `JOURNAL_VERSION` when the file is of a newer version; it is left untouched.
 */
export function migrate({ database, path, migrations }: MigrationRequest): void {
  const found = checkVersion(database, path, migrations.length);
  if (found === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been first.
    const before = checkVersion(database, path, migrations.length);
    if (before > 0 && before < migrations.length) backUp(database, path, `${path}-before-${migrations.length}`);
    for (const step of migrations.slice(before)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/**
 * The version of a file, 0 for a new one.
 * @throws KernelError `JOURNAL_VERSION` when it is newer than the newest known here.
 */
export function checkVersion(database: SqliteDatabase, path: string, newest: number): number {
  const row = database.prepare("PRAGMA user_version").get() as { readonly user_version: number }; // the pragma's one column
  if (row.user_version >= 0 && row.user_version <= newest) return row.user_version;
  throw new KernelError(
    "JOURNAL_VERSION",
    `The journal ${path} has schema version ${row.user_version}; this toolkernel knows versions up to ${newest}. Use the newer toolkernel.`,
    { subject: path },
  );
}

/**
 * Copies what is committed, through a connection of its own, since none copies in its own transaction. The
 * copy has its name when it is whole: what a process left that died in the middle is thrown away. SQLite
 * syncs its bytes.
 */
function backUp(database: SqliteDatabase, path: string, copyPath: string): void {
  const unfinished = `${copyPath}-unfinished`;
  for (const each of [`${unfinished}-journal`, unfinished]) rmSync(each, { force: true });
  const reader = openDatabase(database.constructor as SqliteClass, path); // every binding's databases are of a class
  try {
    reader.exec(`VACUUM INTO '${unfinished.replaceAll("'", "''")}'`);
  } finally {
    reader.close();
  }
  renameSync(unfinished, copyPath);
  syncDirectory(copyPath);
}
