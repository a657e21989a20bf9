import { existsSync, renameSync } from "node:fs";
import { checkGiven, checkOptions, mustBeFunction } from "../../domain/check-options.ts";
import { KernelError } from "../../domain/errors.ts";
import { systemClock } from "../../run/clock.ts";
import { runClaimed } from "../run-store/run-errors.ts";
import type { StoreContents } from "../store-contents.ts";
import { mustBeDriver, type SqliteDriver } from "./driver.ts";
import { EntryTable } from "./entry-table.ts";
import { placeOf } from "./file-place.ts";
import { syncDirectory } from "./file-system.ts";
import { type OpenDatabase, openDurably } from "./open-database.ts";
import { OwnerLocks } from "./owner-locks.ts";
import { SqliteContents } from "./read-contents.ts";
import { rollBack } from "./rollback.ts";
import { RunTable } from "./run-table.ts";
import { toJournalError } from "./sqlite-errors.ts";

/** Options of {@link moveSqliteStore}. */
export interface MoveSqliteOptions {
  /** As for `openSqliteJournal`. */
  readonly driver?: SqliteDriver | undefined;
}

/** What came of a move: what the receiver answered, and where the file lies now. */
export interface MovedSqlite<Answer> {
  readonly answer: Answer;
  readonly movedTo: string;
}

/**
 * Passes everything in a SQLite file to a receiver, and then renames the file to `<path>-moved`, so that
 * nobody keeps writing to it: whoever opens the old path is refused. Others can write nothing meanwhile.
 * When the receiver rejects, the file is as it was.
 * @throws KernelError `INVALID_OPTIONS` when there is no such file, nothing is in it, or an entry in it is open: dispatched,
 * uncertain or prepared; `JOURNAL_UNAVAILABLE` when another process uses it; `RUN_CLAIMED` when one holds a
 * run; `JOURNAL_*` as `openSqliteJournal` does; and what the receiver rejects with.
 */
export async function moveSqliteStore<Answer>(
  file: string,
  options: MoveSqliteOptions,
  receive: (contents: StoreContents) => Promise<Answer>,
): Promise<MovedSqlite<Answer>> {
  checkOptions(options, { driver: mustBeDriver }, { path: "options" });
  checkGiven(receive, "receive", mustBeFunction);
  const path = placeOf(file);
  const movedTo = `${path}-moved`;
  if (!existsSync(path)) throw refusal(path, "is not there");
  if (existsSync(movedTo)) throw refusal(path, `cannot be renamed, since ${movedTo} already exists`);
  const opened = await openDurably({ path, driver: options.driver, clock: systemClock, mustExist: true });
  try {
    begin(opened, path);
    checkNothingOpen(opened, path);
    const answer = await receive(new SqliteContents(opened.database));
    retire(opened, path, movedTo);
    return { answer, movedTo };
  } catch (error) {
    throw toJournalError(error, path);
  } finally {
    rollBack(opened.database);
    opened.close();
  }
}

/** Brings everything into the file itself, and keeps others from writing. */
function begin({ database }: OpenDatabase, path: string): void {
  const row = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { readonly busy: number }; // the pragma's columns
  if (row.busy !== 0) throw inUse(path);
  database.exec("BEGIN IMMEDIATE");
}

function checkNothingOpen({ database, databaseClass }: OpenDatabase, path: string): void {
  const [open] = new EntryTable(database).listOpen("", 1);
  if (open !== undefined) {
    throw refusal(
      path,
      `holds operations that are open, such as ${open.operationId}: reconcile, resolve or abandon them`,
    );
  }
  const locks = new OwnerLocks(path, databaseClass);
  const isHeld = new RunTable(database).listOwners().some((owner) => locks.isAlive(owner));
  if (isHeld) throw runClaimed();
  if (locks.isAnyAlive()) throw inUse(path);
}

/** Renames the file, still under the lock of writers: from then on, and after a power cut, nobody can write there. */
function retire({ witness, progress }: OpenDatabase, path: string, movedTo: string): void {
  // The witness is what keeps a new journal from being made at the old path.
  witness.note(progress.commits);
  try {
    witness.sync();
    syncDirectory(path);
    renameSync(path, movedTo);
    syncDirectory(path);
  } catch (error) {
    const message = `Everything in ${path} was copied, but it could not be renamed. Rename it before anybody opens it again.`;
    throw new KernelError("JOURNAL_UNAVAILABLE", message, { subject: path, cause: error });
  }
}

function inUse(path: string): KernelError {
  const message = `The journal ${path} is used by another process; end that first, and then move the journal.`;
  return new KernelError("JOURNAL_UNAVAILABLE", message, { subject: path });
}

function refusal(path: string, what: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `The journal ${path} ${what}.`, { subject: path });
}
