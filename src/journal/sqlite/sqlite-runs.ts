/**
 * Runs in a SQLite file, for one or several processes of a machine.
 * Owns: the tables of runs in a durable file. Invariants: who holds a run is known by the lock of its
 * process, so that a run of a dead one can be taken at once and that of a stopped one cannot (RUN-6).
 */
import type { RunListing } from "../../domain/run-store.ts";
import type { AppendRequest, GiveBackRequest, RunBackend, TakeAnswer, TakeRequest } from "../run-store/run-backend.ts";
import { DurableFile, type DurableFileParts } from "./durable-file.ts";
import { inNextTurn } from "./next-turn.ts";
import { appendStep, giveBackStep, removeStep, takeStep } from "./run-steps.ts";
import { type KeptRun, RunTable } from "./run-table.ts";

const PRUNE_AT_ONCE = 100;
/** Who removes the locks of the dead holds each for a moment, in which its owner looks alive. */
const MOST_LOOKS = 3;

/** See the file header. */
export class SqliteRuns implements RunBackend {
  readonly #table: RunTable;
  readonly #file: DurableFile;
  readonly #now: () => number;

  constructor(parts: DurableFileParts) {
    this.#table = new RunTable(parts.opened.database);
    this.#file = new DurableFile(parts, this.#table);
    this.#now = () => parts.clock.now();
  }

  async take(request: TakeRequest): Promise<TakeAnswer> {
    const found = await this.#file.read(() => this.#table.find(request.runId));
    const holder = found?.owner ?? null;
    if (holder !== null && (await this.#isForeign(holder))) return { kind: "claimed" };
    return this.#file.write(() =>
      takeStep(this.#table, request, {
        owner: this.#file.owner(),
        deadOwner: holder,
        nowMs: this.#now(),
        checkSpace: () => this.#file.checkSpace(),
      }),
    );
  }

  append(request: AppendRequest): Promise<number | undefined> {
    return this.#file.write(() => appendStep(this.#table, request, { owner: this.#file.owner(), nowMs: this.#now() }));
  }

  giveBack(request: GiveBackRequest): Promise<void> {
    return this.#file.write(() => giveBackStep(this.#table, request, this.#file.owner()));
  }

  listOpen(after: string, limit: number): Promise<readonly RunListing[]> {
    return this.#file.read(() => {
      const runs = this.#table.listOpen(after, limit);
      const alive = this.#aliveOf(runs);
      return runs.map(({ runId, status, turn, updatedAtMs, owner }) => ({
        runId,
        status,
        turn,
        updatedAtMs,
        claimed: owner !== null && alive.has(owner),
      }));
    });
  }

  async prune(endedBefore: number): Promise<number> {
    let pruned = 0;
    for (let after = ""; ; ) {
      const found = await this.#file.read(() => this.#table.listEnded(endedBefore, after, PRUNE_AT_ONCE));
      const last = found.at(-1);
      if (last === undefined) return pruned;
      after = last.runId;
      const alive = await this.#file.read(() => this.#aliveOf(found));
      const free = found.filter(({ owner }) => owner === null || !alive.has(owner));
      pruned += await this.#file.write(() => removeStep(this.#table, free));
    }
  }

  close(): Promise<void> {
    // A lock that is gone says as much as one that was let go: the owner is dead.
    return this.#file.close(() => true);
  }

  /** Whether an owner is another one, and alive. */
  async #isForeign(owner: string): Promise<boolean> {
    if (owner === this.#file.knownOwner) return false;
    for (let look = 1; await this.#file.read(() => this.#file.locks.isAlive(owner)); look += 1) {
      if (look === MOST_LOOKS) return true;
      await new Promise<void>(inNextTurn);
    }
    return false;
  }

  /** Which of the owners of runs are alive. */
  #aliveOf(runs: readonly KeptRun[]): ReadonlySet<string> {
    const owners = new Set(runs.flatMap(({ owner }) => (owner === null ? [] : [owner])));
    return new Set([...owners].filter((owner) => owner === this.#file.knownOwner || this.#file.locks.isAlive(owner)));
  }
}
