/**
 * Which owners are alive, by locks that the operating system takes away from the dead.
 * Owns: lock files in `<path>-owners`. Invariants: an owner's lock is held before its name is in the
 * journal and until it has left; whoever gets the lock of a named owner knows that its process has ended.
 * No clock is asked: a process that was only stopped counts as alive (ACT-5). Lock files are opened by
 * SQLite alone: closing one any other way would drop the lock.
 */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { openDatabase } from "./connection.ts";
import type { SqliteClass, SqliteDatabase } from "./driver.ts";
import { fileIdOf } from "./file-system.ts";
import { isBusy } from "./sqlite-errors.ts";

/** A lock that is held. */
export interface OwnerLock {
  readonly owner: string;
  /** Lets go and removes the file. */
  remove(): void;
  /** Lets go and leaves the file, so that the owner counts as dead. */
  release(): void;
}

const ENDING = ".lock";

/** See the file header. */
export class OwnerLocks {
  readonly #directory: string;
  readonly #databaseClass: SqliteClass;

  constructor(path: string, databaseClass: SqliteClass) {
    this.#directory = `${path}-owners`;
    this.#databaseClass = databaseClass;
  }

  /** Takes a new name, with its lock. */
  create(): OwnerLock {
    mkdirSync(this.#directory, { recursive: true });
    for (;;) {
      const lock = this.#tryCreate(randomBytes(16).toString("hex"));
      if (lock !== undefined) return lock;
    }
  }

  /** Whether an owner's process lives; a look that keeps no other one from looking. */
  isAlive(owner: string): boolean {
    if (!existsSync(this.#fileOf(owner))) return false;
    const database = openDatabase(this.#databaseClass, this.#fileOf(owner));
    try {
      database.prepare("PRAGMA schema_version").get();
      return false;
    } catch (error) {
      if (isBusy(error)) return true;
      throw error;
    } finally {
      database.close();
    }
  }

  /** Whether any owner's process lives. */
  isAnyAlive(): boolean {
    return this.#listOwners().some((owner) => this.isAlive(owner));
  }

  /** Takes the lock of an owner whose process has ended; undefined when it is alive. */
  takeFromDead(owner: string): OwnerLock | undefined {
    if (!existsSync(this.#fileOf(owner))) return this.#hold(owner, undefined);
    const database = this.#tryLock(owner);
    return database && this.#hold(owner, database);
  }

  /** Removes the lock files of the dead, but for those of the owners named. */
  tidy(named: readonly string[]): void {
    for (const owner of this.#listOwners()) if (!named.includes(owner)) this.takeFromDead(owner)?.remove();
  }

  /** Every owner that has a lock file. */
  #listOwners(): string[] {
    if (!existsSync(this.#directory)) return [];
    const locks = readdirSync(this.#directory).filter((name) => name.endsWith(ENDING));
    return locks.map((name) => name.slice(0, -ENDING.length));
  }

  /** The lock of a new name; undefined when somebody took it for a dead one's and removed it meanwhile. */
  #tryCreate(owner: string): OwnerLock | undefined {
    const file = this.#fileOf(owner);
    closeSync(openSync(file, "ax"));
    const fileId = fileIdOf(file);
    const database = this.#tryLock(owner);
    if (database === undefined) return undefined;
    if (existsSync(file) && fileIdOf(file) === fileId) return this.#hold(owner, database);
    database.close();
    return undefined;
  }

  /** Takes a lock; undefined when it is held. */
  #tryLock(owner: string): SqliteDatabase | undefined {
    const database = openDatabase(this.#databaseClass, this.#fileOf(owner));
    try {
      database.exec("BEGIN EXCLUSIVE");
      return database;
    } catch (error) {
      database.close();
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  #hold(owner: string, database: SqliteDatabase | undefined): OwnerLock {
    const file = this.#fileOf(owner);
    return {
      owner,
      remove: () => {
        for (const each of [`${file}-journal`, file]) rmSync(each, { force: true });
        database?.close();
      },
      release: () => database?.close(),
    };
  }

  #fileOf(owner: string): string {
    return `${this.#directory}/${owner}${ENDING}`;
  }
}
