/**
 * An open journal database: reads, and writes that share commits.
 * Owns: the connection, the commit queue, the count of commits with its witness, this process's owner name
 * and lock. Invariants: the lock of an owner is held before anything is written under its name; the
 * witness follows each commit; nothing is written once the file at the path is another one.
 */
import { KernelError } from "../../domain/errors.ts";
import type { Released, SweepCount } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import { CommitQueue } from "./commit-queue.ts";
import type { SqliteStatement } from "./driver.ts";
import { fileIdOf } from "./file-system.ts";
import { sweepOwnerStep } from "./keeping-steps.ts";
import { Ledger } from "./ledger.ts";
import type { OpenDatabase } from "./open-database.ts";
import { type OwnerLock, OwnerLocks } from "./owner-locks.ts";
import { Reserve } from "./reserve.ts";
import { isFull, toJournalError } from "./sqlite-errors.ts";

/** What a store is made of. */
export interface StoreParts {
  readonly path: string;
  readonly opened: OpenDatabase;
  readonly clock: Clock;
  /** Told after each commit what it released. */
  readonly onReleased: (released: Released) => void;
}

/** See the file header. */
export class SqliteStore {
  readonly ledger: Ledger;
  readonly #parts: StoreParts;
  readonly #queue: CommitQueue;
  readonly #locks: OwnerLocks;
  readonly #reserve: Reserve;
  readonly #countCommit: SqliteStatement;
  #commits: number;
  #lock: OwnerLock | undefined;
  #isTidy = false;
  #isClosed = false;

  constructor(parts: StoreParts) {
    const { path, opened, clock } = parts;
    const { database, databaseClass, progress } = opened;
    this.#parts = parts;
    this.ledger = new Ledger(database, () => clock.now());
    this.#locks = new OwnerLocks(path, databaseClass);
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
    this.#lock ??= this.#locks.create();
    return this.#lock.owner;
  }

  /** @throws KernelError `JOURNAL_FULL` when nothing new may be dispatched. */
  checkSpace(): void {
    this.#reserve.checkForClaim();
  }

  /** Looks after every owner whose process has ended (ACT-5). */
  async sweep(): Promise<SweepCount> {
    const owners = await this.read(() => this.ledger.entries.listOwners());
    let [uncertain, abandoned] = [0, 0];
    for (const owner of owners.filter((name) => name !== this.#lock?.owner)) {
      const swept = await this.#sweepOwner(owner);
      uncertain += swept.uncertain;
      abandoned += swept.abandoned;
    }
    if (!this.#isTidy) this.#locks.tidy([...owners, this.#lock?.owner ?? ""]);
    this.#isTidy = true;
    return { uncertain, abandoned };
  }

  /** Lets what was submitted be committed, and closes. An owner that leaves something dispatched counts as dead. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.idle();
    const leavesNothing = this.#leavesNothing();
    this.#parts.opened.close();
    if (leavesNothing) this.#lock?.remove();
    else this.#lock?.release();
  }

  #leavesNothing(): boolean {
    if (this.#lock === undefined) return true;
    try {
      return !this.ledger.entries.listOwners().includes(this.#lock.owner);
    } catch {
      return false; // a journal that cannot be read: whoever opens it next looks
    }
  }

  async #sweepOwner(owner: string): Promise<SweepCount> {
    const lock = this.#locks.takeFromDead(owner);
    if (lock === undefined) return { uncertain: 0, abandoned: 0 };
    try {
      const swept = await this.write(() => sweepOwnerStep(this.ledger, owner));
      lock.remove();
      return swept;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  #begin(): void {
    const { path, opened } = this.#parts;
    this.ledger.reset();
    if (isSameFile(path, opened.fileId)) return;
    throw new KernelError(
      "JOURNAL_UNAVAILABLE",
      `The journal ${path} was moved, removed or replaced while it was open; nothing more is written. Open it again.`,
      { subject: path },
    );
  }

  #prepareCommit(): boolean {
    if (!this.ledger.hasWritten) return false;
    const row = this.#countCommit.get() as { readonly commits: number }; // the column asked for
    this.#commits = row.commits;
    return true;
  }

  #afterCommit(hasWritten: boolean): void {
    if (hasWritten) this.#note();
    for (const released of this.ledger.released) this.#parts.onReleased(released);
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
