/**
 * The run store of tests and short lives: nothing outlives the process.
 * Owns: every run's facts as JSON text, so that nobody's later change reaches them, and who holds which.
 */
import { checkOptions, mustBeClock } from "../../domain/check-options.ts";
import type { Clock } from "../../domain/ports.ts";
import type { RunListing, RunProgress, RunStore } from "../../domain/run-store.ts";
import { systemClock } from "../../run/clock.ts";
import { KeptRuns, NEW_RUN } from "./kept-runs.ts";
import type { AppendRequest, GiveBackRequest, RunBackend, TakeAnswer, TakeRequest } from "./run-backend.ts";

/** Options of {@link memoryRunStore}. */
export interface MemoryRunStoreOptions {
  /** Where the times of runs come from; default the platform's clock. */
  readonly clock?: Clock | undefined;
}

interface MemoryRun {
  readonly texts: string[];
  progress: RunProgress;
  updatedAtMs: number;
  fence: number;
  isHeld: boolean;
}

/** Makes a run store that lives in memory: for tests, and to hand runs between Agents of one process. */
export function memoryRunStore(options: MemoryRunStoreOptions = {}): RunStore {
  checkOptions(options, { clock: mustBeClock }, { path: "options" });
  return new KeptRuns(new MemoryRuns(options.clock ?? systemClock));
}

class MemoryRuns implements RunBackend {
  readonly #clock: Clock;
  readonly #runs = new Map<string, MemoryRun>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take({ runId, create }: TakeRequest): Promise<TakeAnswer> {
    const run = this.#runs.get(runId) ?? (create ? this.#make(runId) : undefined);
    if (run === undefined) return { kind: "absent" };
    run.fence += 1;
    run.isHeld = true;
    return { kind: "taken", fence: run.fence, texts: [...run.texts] };
  }

  async append({ runId, fence, texts, progress }: AppendRequest): Promise<number | undefined> {
    const run = this.#heldBy({ runId, fence });
    if (run === undefined) return undefined;
    run.texts.push(...texts);
    run.progress = progress ?? run.progress;
    run.updatedAtMs = this.#clock.now();
    return run.texts.length;
  }

  async giveBack(request: GiveBackRequest): Promise<void> {
    const run = this.#heldBy(request);
    if (run !== undefined) run.isHeld = false;
  }

  async listOpen(after: string, limit: number): Promise<readonly RunListing[]> {
    return [...this.#runs]
      .filter(([runId, run]) => isOpen(run) && runId > after)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([runId, run]) => toListing(runId, run));
  }

  async prune(endedBefore: number): Promise<number> {
    const ended = [...this.#runs].filter(([, run]) => !isOpen(run) && !run.isHeld && run.updatedAtMs < endedBefore);
    for (const [runId] of ended) this.#runs.delete(runId);
    return ended.length;
  }

  async close(): Promise<void> {
    this.#runs.clear();
  }

  #make(runId: string): MemoryRun {
    const run = { texts: [], progress: NEW_RUN, updatedAtMs: this.#clock.now(), fence: 0, isHeld: false };
    this.#runs.set(runId, run);
    return run;
  }

  #heldBy({ runId, fence }: GiveBackRequest): MemoryRun | undefined {
    const run = this.#runs.get(runId);
    return run?.isHeld === true && run.fence === fence ? run : undefined;
  }
}

function isOpen({ progress }: MemoryRun): boolean {
  return progress.status === "running" || progress.status === "awaitingApproval";
}

function toListing(runId: string, { progress, updatedAtMs, isHeld }: MemoryRun): RunListing {
  return { runId, status: progress.status, turn: progress.turn, updatedAtMs, claimed: isHeld };
}
