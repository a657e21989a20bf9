/**
 * An open database file of toolkernel: reads, and writes that share commits.
 * Owns: the connection, the commit queue, the count of commits with its witness, this process's owner name
 * and lock. Does not own: what the tables mean. Invariants: the lock of an owner is held before anything is
 * written under its name; the witness follows each commit; nothing is written once the file at the path is
 * another one (ACT-11).
 */
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import { steadyClock } from "../../run/clock.ts";
import { CommitQueue } from "./commit-queue.ts";
import type { SqliteStatement } from "./driver.ts";
import { fileIdOf } from "./file-system.ts";
import type { OpenDatabase } from "./open-database.ts";
import { type OwnerLock, OwnerLocks } from "./owner-locks.ts";
import { Reserve } from "./reserve.ts";
import { isFull, toJournalError } from "./sqlite-errors.ts";

/** What a file is opened with. */
export interface DurableFileParts {
  readonly path: string;
  readonly opened: OpenDatabase;
  readonly clock: Clock;
}

/** Whoever knows the tables, as the file needs it. */
export interface TransactionNotes {
  /** A transaction begins: what was noted is forgotten. */
  reset(): void;
  /** Whether anything was written since. */
  hasWritten(): boolean;
  /** Called after each commit, before the steps' promises resolve; does not throw. */
  committed?(): void;
}

/** See the file header. */
export class DurableFile {
  readonly locks: OwnerLocks;
  readonly #parts: DurableFileParts;
  readonly #notes: TransactionNotes;
  readonly #queue: CommitQueue;
  readonly #reserve: Reserve;
  readonly #countCommit: SqliteStatement;
  #commits: number;
  #lock: OwnerLock | undefined;
  #isClosed = false;

  constructor(parts: DurableFileParts, notes: TransactionNotes) {
    const { path, opened } = parts;
    const clock = steadyClock(parts.clock);
    const { database, databaseClass, progress } = opened;
    this.#parts = parts;
    this.#notes = notes;
    this.locks = new OwnerLocks(path, databaseClass);
    this.#reserve = new Reserve(path, clock);
    this.#countCommit = database.prepare("UPDATE toolkernel_journal SET commits = commits + 1 RETURNING commits");
    this.#commits = progress.commits;
    this.#queue = new CommitQueue({
      database,
      path,
      clock,
      onBegin: () => this.#begin(),
      onCommitting: () => this.#prepareCommit(),
      onCommitted: (hasWritten) => this.#afterCommit(hasWritten),
      onFailed: (error) => isFull(error, path) && this.#reserve.giveUp(),
    });
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether every step that was submitted is committed. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** Takes a step in the next commit; see `CommitQueue.submit`. */
  async write<Answer>(step: () => Answer): Promise<Answer> {
    this.#checkOpen();
    return this.#queue.submit(step);
  }

  /** Reads what is committed. */
  async read<Answer>(look: () => Answer): Promise<Answer> {
    this.#checkOpen();
    try {
      return look();
    } catch (error) {
      throw toJournalError(error, this.#parts.path);
    }
  }

  /** The name under which this process writes; the first time its lock is taken. */
  owner(): string {
    this.#lock ??= this.locks.create();
    return this.#lock.owner;
  }

  /** The name under which this process has written; undefined when it has not. */
  get knownOwner(): string | undefined {
    return this.#lock?.owner;
  }

  /** @throws KernelError `JOURNAL_FULL` when nothing new may be dispatched. */
  checkSpace(): void {
    this.#reserve.checkForClaim();
  }

  /**
   * Lets what was submitted be committed, and closes. An owner of whom anything is left counts as dead from
   * then on; `leavesNothing` says whether the owner named may be forgotten.
   */
  async close(leavesNothing: (owner: string) => boolean): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.idle();
    const isForgotten = this.#lock === undefined || this.#mayForget(this.#lock.owner, leavesNothing);
    this.#parts.opened.close();
    if (isForgotten) this.#lock?.remove();
    else this.#lock?.release();
  }

  #mayForget(owner: string, leavesNothing: (owner: string) => boolean): boolean {
    try {
      return leavesNothing(owner);
    } catch {
      return false; // a journal that cannot be read: whoever opens it next looks
    }
  }

  #begin(): void {
    const { path, opened } = this.#parts;
    this.#notes.reset();
    if (isSameFile(path, opened.fileId)) return;
    throw new KernelError(
      "JOURNAL_UNAVAILABLE",
      `The journal ${path} was moved, removed or replaced while it was open; nothing more is written. Open it again.`,
      { subject: path },
    );
  }

  #prepareCommit(): boolean {
    if (!this.#notes.hasWritten()) return false;
    const row = this.#countCommit.get() as { readonly commits: number }; // the column asked for
    this.#commits = row.commits;
    return true;
  }

  #afterCommit(hasWritten: boolean): void {
    if (hasWritten) this.#note();
    this.#notes.committed?.();
  }

  #note(): void {
    try {
      this.#parts.opened.witness.note(this.#commits);
    } catch {
      // A witness that stays behind only sees less; the commit itself is durable.
    }
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    throw new KernelError("JOURNAL_UNAVAILABLE", `The journal ${this.#parts.path} is closed; open it again.`, {
      subject: this.#parts.path,
    });
  }
}

function isSameFile(path: string, fileId: string): boolean {
  try {
    return fileIdOf(path) === fileId;
  } catch {
    return false; // it is gone
  }
}
