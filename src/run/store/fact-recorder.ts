/**
 * Records the facts of a run in its store (RUN-6).
 * Owns: the claim, the facts that wait to be appended. Invariants: facts are appended in the order they
 * were given; those given in the same task share an append; an append that fails is tried again as an
 * append, never as a call (CAN-5); a store that does not answer is lost after a while; once the store is lost, or the run is somebody else's, nothing more is
 * appended and `onLost` is told once, with `JOURNAL_UNAVAILABLE` or `RUN_CLAIMED`; once the run is being given
 * back, nothing more is taken.
 */
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import type { RunClaim, RunFact, RunProgress } from "../../domain/run-store.ts";
import { claimInTime, inTime, NO_ANSWER } from "./store-time.ts";

/** How long to wait before each further try of an append that failed. */
const RETRY_DELAYS_MS = [0, 50, 500] as const;

interface Waiting {
  readonly facts: readonly RunFact[];
  readonly progress: RunProgress | undefined;
  readonly resolve: () => void;
  readonly reject: (error: KernelError) => void;
}

/** See the file header. */
export class FactRecorder {
  #claim: RunClaim;
  readonly #clock: Clock;
  readonly #onLost: (error: KernelError) => void;
  #waiting: Waiting[] = [];
  #rereads: (() => Promise<void>)[] = [];
  #isAppending = false;
  #lost: KernelError | undefined;
  #released: Promise<void> | undefined;

  constructor(claim: RunClaim, clock: Clock, onLost: (error: KernelError) => void) {
    this.#claim = claim;
    this.#clock = clock;
    this.#onLost = onLost;
  }

  /** Why nothing more can be recorded, once that is so. */
  get lost(): KernelError | undefined {
    return this.#lost;
  }

  /** Whether the run has been given back, or is about to be. */
  get isReleased(): boolean {
    return this.#released !== undefined;
  }

  /**
   * Records facts; durable when the promise resolves. Rejects with the store's KernelError once it is lost, and
   * with `RUN_CLAIMED` once the run has been given back: by then it may be anybody's.
   */
  record(facts: readonly RunFact[], progress?: RunProgress): Promise<void> {
    return this.isReleased ? refuseReleased() : this.#record(facts, progress);
  }

  #record(facts: readonly RunFact[], progress?: RunProgress): Promise<void> {
    const recorded = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ facts, progress, resolve, reject });
    });
    recorded.catch(() => undefined);
    this.#goOn();
    return recorded;
  }

  /**
   * Every fact of the run as its store has it. The run is given back and claimed again for that, behind all that was
   * given before; whatever is given meanwhile waits. Rejects where it cannot be: the store is then lost.
   */
  reread(claimAgain: () => Promise<RunClaim>): Promise<readonly RunFact[]> {
    return new Promise((resolve, reject) => {
      this.#rereads.push(() => this.#reread(claimAgain).then(resolve, reject));
      this.#goOn();
    });
  }

  async #reread(claimAgain: () => Promise<RunClaim>): Promise<readonly RunFact[]> {
    if (this.#lost !== undefined) throw this.#lost;
    try {
      await inTime(this.#clock, this.#claim.release());
      this.#claim = await claimInTime(this.#clock, claimAgain());
      return this.#claim.facts;
    } catch (error) {
      throw this.#lose(error);
    }
  }

  #goOn(): void {
    if (this.#isAppending) return;
    this.#isAppending = true;
    // In a task of its own, so that what follows in this one shares the append.
    queueMicrotask(() => this.#appendAll());
  }

  /** Records a fact for whoever needs the order only; what has to be durable awaits {@link FactRecorder.record}. */
  note(fact: RunFact, progress?: RunProgress): void {
    this.record([fact], progress).catch(() => undefined);
  }

  /** Says what the list of runs shows from now on. */
  noteProgress(progress: RunProgress): void {
    this.record([], progress).catch(() => undefined);
  }

  /** Gives the run back, once, when everything given before is recorded, or lost. */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    await this.#record([]).catch(() => undefined);
    // Where it does not answer its lease runs out, and the run has ended here.
    await inTime(this.#clock, this.#claim.release()).catch((error: unknown) => {
      if (error !== NO_ANSWER) throw error;
    });
  }

  async #appendAll(): Promise<void> {
    while (this.#waiting.length + this.#rereads.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      if (batch.length > 0) await this.#append(batch);
      else await this.#rereads.shift()?.();
    }
    this.#isAppending = false;
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    const facts = batch.flatMap((waiting) => waiting.facts);
    const progress = batch.findLast((waiting) => waiting.progress !== undefined)?.progress;
    for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
      if (this.#lost !== undefined) break;
      try {
        if (facts.length > 0 || progress !== undefined) await inTime(this.#clock, this.#claim.append(facts, progress));
        for (const { resolve } of batch) resolve();
        return;
      } catch (error) {
        if (delayMs === undefined || isFinal(error) || error === NO_ANSWER) this.#lose(error);
        else if (delayMs > 0) await this.#wait(delayMs);
      }
    }
    for (const { reject } of batch) reject(this.#lost ?? lostError(undefined));
  }

  #lose(error: unknown): KernelError {
    this.#lost = isFinal(error) ? error : lostError(error);
    this.#onLost(this.#lost);
    return this.#lost;
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(this.#clock.now() + delayMs, resolve);
    });
  }
}

/** Another process has the run: trying again would change nothing. */
function isFinal(error: unknown): error is KernelError {
  return error instanceof KernelError && error.code === "RUN_CLAIMED";
}

function refuseReleased(): Promise<never> {
  const message = "The run has been given back to its store; this process records nothing more of it.";
  const refused = Promise.reject<never>(new KernelError("RUN_CLAIMED", message, { subject: "runStore" }));
  refused.catch(() => undefined);
  return refused;
}

/** One code whatever the store says (CAN-5): full, damaged, gone; what it said is the cause. */
function lostError(cause: unknown): KernelError {
  const why = cause instanceof KernelError ? ` (${cause.code})` : "";
  const message = `The run store could not record a step${why}, so nothing more of the run was dispatched; resume it when the store is back.`;
  return new KernelError("JOURNAL_UNAVAILABLE", message, { subject: "runStore", cause });
}
