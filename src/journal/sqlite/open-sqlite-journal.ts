import { resolve } from "node:path";
import { KernelError } from "../../domain/errors.ts";
import type { Journal } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import { systemClock } from "../../run/clock.ts";
import { type LeaseOptions, readLease } from "../store-options.ts";
import type { SqliteDriver } from "./driver.ts";
import { openDurably } from "./open-database.ts";
import { toJournalError } from "./sqlite-errors.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

/** Options of {@link openSqliteJournal}. */
export interface SqliteJournalOptions extends LeaseOptions {
  /**
   * A SQLite binding in place of `node:sqlite` or `@photostructure/sqlite`: the class `DatabaseSync` or
   * better-sqlite3's `Database`, or a database that one of them has opened at the same path and that only
   * the journal uses; that one stays open on `close`.
   */
  readonly driver?: SqliteDriver | undefined;
  /** Default the platform's clock. */
  readonly clock?: Clock | undefined;
}

/** How often a waiting process looks whether the one it waits for has ended. */
const LOOK_FOR_DEAD_MS = 100;

/**
 * Opens a journal in a SQLite file, and makes it if there is none (ACT-10). Several processes of one
 * machine may have it open; within a process no other SQLite library may open the file.
 * @throws KernelError `JOURNAL_UNSAFE` for an old SQLite, a network file system, settings that do not hold
 * or a second copy of the library; `JOURNAL_VERSION` for a newer schema; `JOURNAL_CORRUPT` for a damaged
 * or rolled-back file; `JOURNAL_UNAVAILABLE` for one that cannot be opened, locked or written;
 * `JOURNAL_FULL`; `INVALID_OPTIONS`.
 */
export async function openSqliteJournal(file: string, options: SqliteJournalOptions = {}): Promise<Journal> {
  if (file === "" || file === ":memory:" || file.startsWith("file:")) throw noFile();
  const path = resolve(file);
  const { heartbeatMs } = readLease(options);
  const clock = options.clock ?? systemClock;
  const opened = await openDurably({ path, driver: options.driver, clock });
  try {
    return new SqliteJournal({ path, opened, clock, sweepEveryMs: Math.min(heartbeatMs, LOOK_FOR_DEAD_MS) });
  } catch (error) {
    opened.close();
    throw toJournalError(error, path);
  }
}

function noFile(): KernelError {
  return new KernelError(
    "INVALID_OPTIONS",
    "A SQLite journal needs the path of a file; for memory there is memoryJournal.",
    {
      subject: "path",
    },
  );
}
