import type { Journal } from "../../domain/journal.ts";
import { openSqliteFile, type SqliteStoreOptions } from "./open-sqlite-file.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

/** Options of {@link openSqliteJournal}. */
export type SqliteJournalOptions = SqliteStoreOptions;

/** How often a waiting process looks whether the one it waits for has ended. */
const LOOK_FOR_DEAD_MS = 100;

/**
 * Opens a journal in a SQLite file, and makes it if there is none (ACT-10). Several processes of one
 * machine may have it open; within a process no other SQLite library may open the file.
 * @throws KernelError `JOURNAL_UNSAFE` for an old SQLite, a network file system, settings that do not hold
 * or a second copy of the library; `JOURNAL_VERSION` for a newer schema; `JOURNAL_CORRUPT` for a damaged
 * or rolled-back file, or a database of something else; `JOURNAL_UNAVAILABLE` for one that cannot be opened, locked or written;
 * `JOURNAL_FULL`; `INVALID_OPTIONS`.
 */
export async function openSqliteJournal(file: string, options: SqliteJournalOptions = {}): Promise<Journal> {
  return openSqliteFile(
    file,
    options,
    (parts, { heartbeatMs }) => new SqliteJournal({ ...parts, sweepEveryMs: Math.min(heartbeatMs, LOOK_FOR_DEAD_MS) }),
  );
}
