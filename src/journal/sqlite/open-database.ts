import { randomInt } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import { steadyClock } from "../../run/clock.ts";
import { makeDurable, openDatabase } from "./connection.ts";
import { chooseDriver, type SqliteClass, type SqliteDatabase, type SqliteDriver } from "./driver.ts";
import { ensureFile, fileIdOf, refuseNetwork, refuseSecondName } from "./file-system.ts";
import { checkVersion, MIGRATIONS, migrate } from "./migrations.ts";
import { noteOpen } from "./open-files.ts";
import { noJournal, refuseForeign } from "./refuse-foreign.ts";
import { isBusy, toJournalError } from "./sqlite-errors.ts";
import { type Progress, Witness } from "./witness.ts";

/** What to open, and how. */
export interface OpenRequest {
  readonly path: string;
  readonly driver: SqliteDriver | undefined;
  readonly clock: Clock;
  /** Whether there has to be a journal already; one is not made then. */
  readonly mustExist: boolean;
}

/** A database of toolkernel that is open, checked, and of today's schema. */
export interface OpenDatabase {
  readonly database: SqliteDatabase;
  readonly databaseClass: SqliteClass;
  readonly witness: Witness;
  readonly progress: Progress;
  /** Device and inode: what the path meant when it was opened. */
  readonly fileId: string;
  /** Closes what was opened here; a database that the host opened stays open. */
  close(): void;
}

/** How long other processes that open, migrate or write may keep this one out. */
const OPEN_TIMEOUT_MS = 5_000;
const LONGEST_RETRY_MS = 20;

/**
 * Opens a database file, makes it durable, brings it to today's schema and holds it to its witness.
 * @throws KernelError `JOURNAL_UNAVAILABLE`, `JOURNAL_UNSAFE`, `JOURNAL_VERSION`, `JOURNAL_CORRUPT` or
 * `JOURNAL_FULL`; what stands in the file is left as it is.
 */
export async function openDurably(request: OpenRequest): Promise<OpenDatabase> {
  const { path } = request;
  const clock = steadyClock(request.clock);
  const chosen = await chooseDriver(request.driver);
  const giveUpAtMs = clock.now() + OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      return openOnce(request, chosen.databaseClass, chosen.opened);
    } catch (error) {
      if (!isBusy(error) || clock.now() >= giveUpAtMs) throw toJournalError(error, path);
    }
    await new Promise<void>((resolve) => {
      clock.setTimer(clock.now() + 1 + randomInt(LONGEST_RETRY_MS), resolve);
    });
  }
}

function openOnce(
  { path, mustExist }: OpenRequest,
  databaseClass: SqliteClass,
  opened: SqliteDatabase | undefined,
): OpenDatabase {
  if (!existsSync(path) && Witness.isThere(path)) {
    throw new KernelError(
      "JOURNAL_CORRUPT",
      `The journal ${path} is gone, but its witness is still there. Restore it; or, if a new one is meant, remove the witness.`,
      { subject: path },
    );
  }
  if (mustExist && !existsSync(path)) throw noJournal(path, "does not exist");
  ensureFile(path);
  refuseNetwork(path);
  refuseSecondName(path);
  const fileId = fileIdOf(path);
  const forget = noteOpen(path, databaseClass);
  const database = openGuarded(forget, () => opened ?? openDatabase(databaseClass, path));
  const close = (): void => {
    if (opened === undefined) database.close();
    forget();
  };
  return openGuarded(close, () => {
    // What must not be touched is refused before anything is changed.
    refuseEmptied(database, path);
    refuseForeign({ database, path, mustExist });
    checkVersion(database, path, MIGRATIONS.length);
    makeDurable(database, path);
    refuseTruncated(database, path);
    migrate({ database, path, migrations: MIGRATIONS });
    const progress = readProgress(database, path);
    const witness = Witness.open(path, progress);
    probeWrite(database);
    const checkpointAndClose = (): void => {
      witness.close();
      checkpoint(database);
      close();
    };
    return { database, databaseClass, witness, progress, fileId, close: checkpointAndClose };
  });
}

/** An empty database where a witness stands is not a new journal: it has lost everything. */
function refuseEmptied(database: SqliteDatabase, path: string): void {
  const row = database.prepare("PRAGMA user_version").get() as { readonly user_version: number }; // the pragma's one column
  if (row.user_version !== 0 || !Witness.isThere(path)) return;
  throw new KernelError(
    "JOURNAL_CORRUPT",
    `The journal ${path} is empty, and its witness says that it was not. Restore it.`,
    {
      subject: path,
    },
  );
}

/** A file that is shorter than it says, with no log that could hold the rest, reads as zeros and not as an error. */
function refuseTruncated(database: SqliteDatabase, path: string): void {
  const { pages, bytes } = database
    .prepare("SELECT page_count AS pages, page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
    .get() as { readonly pages: number; readonly bytes: number }; // the columns asked for
  if (sizeOf(`${path}-wal`) > 0 || sizeOf(path) >= bytes) return;
  throw new KernelError(
    "JOURNAL_CORRUPT",
    `The journal ${path} is cut off: it is shorter than its ${pages} pages. Restore it.`,
    {
      subject: path,
    },
  );
}

/** How far the journal has come. */
function readProgress(database: SqliteDatabase, path: string): Progress {
  const row = database.prepare("SELECT journal_id, commits FROM toolkernel_journal").get() as
    | { readonly journal_id: unknown; readonly commits: unknown }
    | undefined; // the columns asked for
  if (
    typeof row?.journal_id === "string" &&
    /^[0-9a-f]{32}$/.test(row.journal_id) &&
    Number.isSafeInteger(row.commits)
  ) {
    return { journalId: row.journal_id, commits: row.commits as number }; // just seen to be one
  }
  throw new KernelError("JOURNAL_CORRUPT", `The journal ${path} does not say which one it is. Restore it.`, {
    subject: path,
  });
}

/** Makes sure that the journal can be written before anybody relies on it. */
function probeWrite(database: SqliteDatabase): void {
  database.exec("BEGIN IMMEDIATE; UPDATE toolkernel_journal SET commits = commits; COMMIT");
}

/** Brings everything into the database file itself, if no other process is reading just now. */
function checkpoint(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The write-ahead log holds it all the same.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function openGuarded<Value>(undo: () => void, open: () => Value): Value {
  try {
    return open();
  } catch (error) {
    undo();
    throw error;
  }
}
