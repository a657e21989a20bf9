/**
 * A run that this process holds.
 * Owns: the appends that wait, and whether the run was given back. Invariants: appends take effect in the
 * order they were given; those that wait while one is under way go together; when one fails, those after
 * it fail too, so that no fact ever stands after a gap (RUN-6).
 */
import type { RunClaim, RunFact, RunProgress } from "../../domain/run-store.ts";
import { runLost, storeClosed } from "./run-errors.ts";

/** What a held run is made of. */
export interface HeldRunParts {
  readonly runId: string;
  readonly texts: readonly string[];
  /** Records after so many facts and returns how many there are now; rejects when it cannot, or may not any more. */
  readonly append: (behind: number, texts: readonly string[], progress: RunProgress | undefined) => Promise<number>;
  readonly giveBack: () => Promise<void>;
  readonly isClosed: () => boolean;
}

interface Append {
  readonly texts: readonly string[];
  readonly progress: RunProgress | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** See the file header. */
export class HeldRun implements RunClaim {
  readonly runId: string;
  readonly facts: readonly RunFact[];
  readonly #parts: HeldRunParts;
  #recorded: number;
  #waiting: Append[] = [];
  #flight: Promise<void> | undefined;
  #release: Promise<void> | undefined;

  constructor(parts: HeldRunParts) {
    this.#parts = parts;
    this.runId = parts.runId;
    this.facts = parts.texts.map((text) => JSON.parse(text) as RunFact); // what was appended was a fact
    this.#recorded = parts.texts.length;
  }

  async append(facts: readonly RunFact[], progress?: RunProgress): Promise<void> {
    if (this.#parts.isClosed()) throw storeClosed();
    if (this.#release !== undefined) throw runLost();
    const texts = facts.map((fact) => JSON.stringify(fact));
    const { promise, resolve, reject } = deferred();
    this.#waiting.push({ texts, progress, resolve, reject });
    this.#flight ??= this.#fly();
    return promise;
  }

  release(): Promise<void> {
    this.#release ??= this.idle().then(() => this.#parts.giveBack());
    return this.#release;
  }

  /** Resolves when everything that was given is recorded, or has failed. */
  async idle(): Promise<void> {
    await this.#flight;
  }

  async #fly(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#record(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#flight = undefined;
  }

  async #record(batch: readonly Append[]): Promise<void> {
    const texts = batch.flatMap((append) => append.texts);
    const progress = batch.findLast((append) => append.progress !== undefined)?.progress;
    if (texts.length === 0 && progress === undefined) return;
    this.#recorded = await this.#parts.append(this.#recorded, texts, progress);
  }
}

function deferred(): {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
} {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => undefined, () => undefined];
  const promise = new Promise<void>((onDone, onError) => {
    [resolve, reject] = [onDone, onError];
  });
  return { promise, resolve, reject };
}
