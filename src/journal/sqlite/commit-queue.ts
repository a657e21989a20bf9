/**
 * Group commit: all steps that wait at the same time share one transaction, and one sync of the disk.
 * Owns: the steps that wait, and every write transaction of the connection. Invariants: steps take effect
 * in the order they were submitted; a step's promise resolves after the commit that made it durable; a
 * step that fails takes no other down; while one transaction waits for another process's, the next gathers.
 */
import { randomInt } from "node:crypto";
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import type { SqliteDatabase } from "./driver.ts";
import { inNextTurn } from "./next-turn.ts";
import { rollBack } from "./rollback.ts";
import { isBusy, toJournalError } from "./sqlite-errors.ts";

/** What the queue works on, and whom it tells. */
export interface CommitPorts {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly clock: Clock;
  /** Called inside each transaction before its steps; a throw fails them all. */
  readonly onBegin: () => void;
  /** Called inside each transaction after its steps: the last writes; says whether anything was written. */
  readonly onCommitting: () => boolean;
  /** Called after each commit, before the steps' promises resolve; does not throw. */
  readonly onCommitted: (hasWritten: boolean) => void;
  /** Called after a transaction that came to nothing; whether to try it once more. */
  readonly onFailed: (error: unknown) => boolean;
}

interface Waiting {
  readonly run: () => void;
  /** Set by the run: what to do once it is durable. */
  settle: () => void;
  readonly fail: (error: unknown) => void;
  /** Set when a shared transaction failed: it gets one of its own. */
  isAlone: boolean;
  isRepeated: boolean;
}

/** Most steps of one transaction, so that the event loop gets its turns. */
const MAX_STEPS = 512;
/** How long another process may hold the write lock. */
const LOCK_TIMEOUT_MS = 10_000;
const LONGEST_RETRY_MS = 3;

/** See the file header. */
export class CommitQueue {
  readonly #ports: CommitPorts;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #lockedSinceMs: number | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(ports: CommitPorts) {
    this.#ports = ports;
  }

  /** Takes a step in the next transaction; the answer comes when it is durable. */
  submit<Answer>(step: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        run: () => {
          const answer = step();
          waiting.settle = () => resolve(answer);
        },
        settle: () => undefined,
        fail: reject,
        isAlone: false,
        isRepeated: false,
      };
      this.#waiting.push(waiting);
      this.#schedule();
    });
  }

  /** Whether nothing waits. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    inNextTurn(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const began = this.#begin();
    if (began === "busy") return;
    const batch = this.#takeBatch();
    if (began === "begun") this.#commit(batch);
    else for (const { fail } of batch) fail(began);
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #takeBatch(): readonly Waiting[] {
    const firstAlone = this.#waiting.findIndex(({ isAlone }) => isAlone);
    const size = firstAlone === 0 ? 1 : firstAlone === -1 ? MAX_STEPS : Math.min(firstAlone, MAX_STEPS);
    return this.#waiting.splice(0, size);
  }

  /** Takes the write lock; a lock that stays taken is an error in the end. */
  #begin(): "begun" | "busy" | KernelError {
    const { database, path, clock } = this.#ports;
    try {
      database.exec("BEGIN IMMEDIATE");
      this.#lockedSinceMs = undefined;
      return "begun";
    } catch (error) {
      const nowMs = clock.now();
      this.#lockedSinceMs ??= nowMs;
      if (!isBusy(error) || nowMs - this.#lockedSinceMs > LOCK_TIMEOUT_MS) {
        this.#lockedSinceMs = undefined;
        return toJournalError(error, path);
      }
      // By chance, so that no process is always the one that comes too late.
      this.#isScheduled = true;
      clock.setTimer(nowMs + randomInt(LONGEST_RETRY_MS), () => this.#flush());
      return "busy";
    }
  }

  /** Runs and commits steps in the transaction that has begun. */
  #commit(batch: readonly Waiting[]): void {
    const { database, onBegin, onCommitting, onCommitted } = this.#ports;
    const refused = new Map<Waiting, unknown>();
    let hasWritten = false;
    try {
      onBegin();
      for (const waiting of batch) runStep(waiting, refused);
      hasWritten = onCommitting();
      database.exec("COMMIT");
    } catch (error) {
      rollBack(database);
      this.#afterFailure(batch, error);
      return;
    }
    onCommitted(hasWritten);
    for (const waiting of batch) {
      if (refused.has(waiting)) waiting.fail(refused.get(waiting));
      else waiting.settle();
    }
  }

  /** A transaction came to nothing: each step gets one of its own, so that only the one at fault fails. */
  #afterFailure(batch: readonly Waiting[], error: unknown): void {
    const mayRepeat = this.#ports.onFailed(error);
    const again = batch.filter((waiting) => batch.length > 1 || (mayRepeat && !waiting.isRepeated));
    for (const waiting of again) {
      waiting.isRepeated = batch.length === 1;
      waiting.isAlone = true;
    }
    this.#waiting.unshift(...again);
    if (again.length === 0) for (const { fail } of batch) fail(toJournalError(error, this.#ports.path));
  }
}

/** A step refuses with a `KernelError` before it has written anything; everything else fails the transaction. */
function runStep(waiting: Waiting, refused: Map<Waiting, unknown>): void {
  try {
    waiting.run();
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    refused.set(waiting, error);
  }
}
