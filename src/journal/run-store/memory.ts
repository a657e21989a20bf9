/**
 * The run store of tests and short lives: nothing outlives the process.
 * Owns: every run's facts, and who holds which. Invariants: one claim at a time holds a run (RUN-6);
 * facts are kept as JSON text, so that nobody's later change reaches them.
 */
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import type { RunClaim, RunFact, RunListing, RunPage, RunProgress, RunStore } from "../../domain/run-store.ts";
import { systemClock } from "../../run/clock.ts";
import { checkLimit } from "../list-page.ts";

/** Options of {@link memoryRunStore}. */
export interface MemoryRunStoreOptions {
  /** Where the times of runs come from; default the platform's clock. */
  readonly clock?: Clock | undefined;
}

interface MemoryRun {
  readonly facts: string[];
  progress: RunProgress;
  updatedAtMs: number;
  holder: object | undefined;
}

/** Makes a run store that lives in memory: for tests, and to hand runs between Agents of one process. */
export function memoryRunStore(options: MemoryRunStoreOptions = {}): RunStore {
  return new MemoryRunStore(options.clock ?? systemClock);
}

class MemoryRunStore implements RunStore {
  readonly #clock: Clock;
  readonly #runs = new Map<string, MemoryRun>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async listOpen({ limit, after }: { readonly limit: number; readonly after?: string | undefined }): Promise<RunPage> {
    this.#checkOpen();
    checkLimit({ limit });
    const open = [...this.#runs]
      .filter(([runId, run]) => isOpen(run) && (after === undefined || runId > after))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    const runs = open.slice(0, limit).map(([runId, run]) => toListing(runId, run));
    const next = open.length > limit ? runs.at(-1)?.runId : undefined;
    return { runs, ...(next !== undefined && { next }) };
  }

  async prune({ endedBefore }: { readonly endedBefore: number }): Promise<number> {
    this.#checkOpen();
    const ended = [...this.#runs].filter(
      ([, run]) => !isOpen(run) && run.holder === undefined && run.updatedAtMs < endedBefore,
    );
    for (const [runId] of ended) this.#runs.delete(runId);
    return ended.length;
  }

  async claim(runId: string, { create }: { readonly create: boolean }): Promise<RunClaim> {
    this.#checkOpen();
    const known = this.#runs.get(runId);
    if (known === undefined && !create) {
      throw new KernelError("RUN_NOT_FOUND", "The run store has no run of that id.", { subject: "runId" });
    }
    if (known?.holder !== undefined) {
      throw new KernelError("RUN_CLAIMED", "The run is live: somebody else of this process holds it.", {
        subject: "runId",
      });
    }
    const progress: RunProgress = { status: "running", turn: 0 };
    const run = known ?? { facts: [], progress, updatedAtMs: this.#clock.now(), holder: undefined };
    this.#runs.set(runId, run);
    const holder = {};
    run.holder = holder;
    return {
      runId,
      facts: run.facts.map((text) => JSON.parse(text) as RunFact), // what was appended was a fact
      append: async (facts, progressNow) => {
        this.#checkOpen();
        if (run.holder !== holder) {
          throw new KernelError("RUN_CLAIMED", "The run was given back, or somebody else has it now.", {
            subject: "runId",
          });
        }
        run.facts.push(...facts.map((fact) => JSON.stringify(fact)));
        run.progress = progressNow ?? run.progress;
        run.updatedAtMs = this.#clock.now();
      },
      release: async () => {
        if (run.holder === holder) run.holder = undefined;
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    throw new KernelError("JOURNAL_UNAVAILABLE", "The run store is closed; open another.", { subject: "runStore" });
  }
}

function isOpen({ progress }: MemoryRun): boolean {
  return progress.status === "running" || progress.status === "awaitingApproval";
}

function toListing(runId: string, { progress, updatedAtMs, holder }: MemoryRun): RunListing {
  return { runId, status: progress.status, turn: progress.turn, updatedAtMs, claimed: holder !== undefined };
}
