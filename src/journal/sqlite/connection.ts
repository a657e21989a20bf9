import { KernelError } from "../../domain/errors.ts";
import type { SqliteClass, SqliteDatabase } from "./driver.ts";

/** A row of one named column. */
type Row = Readonly<Record<string, unknown>>;

/** Settings of every connection; those that matter for durability are read back. */
const SETTINGS = [
  "PRAGMA synchronous = FULL",
  "PRAGMA fullfsync = 1",
  "PRAGMA checkpoint_fullfsync = 1",
  "PRAGMA wal_autocheckpoint = 8000",
  "PRAGMA foreign_keys = OFF",
  "PRAGMA trusted_schema = OFF",
  "PRAGMA cell_size_check = ON",
  "PRAGMA mmap_size = 0",
];
const FULL = 2;

/** Opens a database file; a busy one throws at once, since waiting is the caller's affair. */
export function openDatabase(databaseClass: SqliteClass, path: string): SqliteDatabase {
  const database = new databaseClass(path);
  try {
    database.exec("PRAGMA busy_timeout = 0");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Sets a connection to write-ahead logging with a sync at every commit, and reads that back: bindings
 * are compiled with other defaults, which a file that is opened again would fall back to.
 * @throws KernelError `JOURNAL_UNSAFE` when a setting does not hold.
 */
export function makeDurable(database: SqliteDatabase, path: string): void {
  database.exec("PRAGMA busy_timeout = 0");
  const mode = (database.prepare("PRAGMA journal_mode = WAL").get() as Row).journal_mode; // the pragma's one column
  if (mode !== "wal") throw unsafe(path, `journal_mode is ${String(mode)} where WAL is needed`);
  for (const setting of SETTINGS) database.exec(setting);
  const synchronous = (database.prepare("PRAGMA synchronous").get() as Row).synchronous; // the pragma's one column
  if (synchronous !== FULL) throw unsafe(path, `synchronous is ${String(synchronous)} where FULL is needed`);
}

function unsafe(path: string, what: string): KernelError {
  return new KernelError("JOURNAL_UNSAFE", `The journal ${path} cannot be made durable: ${what}.`, { subject: path });
}
