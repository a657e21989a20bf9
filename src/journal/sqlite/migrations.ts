import { KernelError } from "../../domain/errors.ts";
import type { SqliteDatabase } from "./driver.ts";
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
 * one does it. A file that holds an older schema is copied to `<path>-before-<version>` first.
 * @throws KernelError `JOURNAL_VERSION` when the file is of a newer version; it is left untouched.
 */
export function migrate({ database, path, migrations }: MigrationRequest): void {
  const found = checkVersion(database, path, migrations.length);
  if (found === migrations.length) return;
  if (found > 0) backUp(database, `${path}-before-${migrations.length}`);
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been first.
    const before = checkVersion(database, path, migrations.length);
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

function backUp(database: SqliteDatabase, copyPath: string): void {
  database.exec(`VACUUM INTO '${copyPath.replaceAll("'", "''")}'`);
}
