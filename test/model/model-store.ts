/**
 * A run store in a path's hands: facts wait for the path where it says so, and the store is lost when it says so.
 * Owns: the facts of one run. After {@link ModelStore.kill} whoever held the run is taken for dead.
 */
import type { RunClaim, RunFact, RunStore } from "toolkernel";
import type { Kernel } from "./kernel.ts";

/** See the file header. */
export class ModelStore implements RunStore {
  readonly facts: RunFact[] = [];
  readonly #core: Kernel["core"];
  readonly #isHeld: (fact: RunFact) => boolean;
  readonly #waiting: (() => void)[] = [];
  #isLost = false;
  #owner: object | undefined;

  /** `isHeld`: which facts wait for {@link ModelStore.release} before they are durable. */
  constructor({ core }: Kernel, isHeld: (fact: RunFact) => boolean = () => false) {
    this.#core = core;
    this.#isHeld = isHeld;
  }

  /** Lets what waits become durable. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** From here on the run is somebody else's: nothing can be recorded, and what waits fails. */
  lose(): void {
    this.#isLost = true;
    this.release();
  }

  /** Whoever holds the run has died. */
  kill(): void {
    this.#owner = undefined;
  }

  async claim(runId: string): Promise<RunClaim> {
    if (this.#owner !== undefined) throw this.#claimed();
    const owner = {};
    this.#owner = owner;
    const known = structuredClone(this.facts);
    return {
      runId,
      facts: known,
      append: async (facts) => {
        if (facts.some(this.#isHeld)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        if (this.#isLost || this.#owner !== owner) throw this.#claimed();
        this.facts.push(...structuredClone(facts));
      },
      release: async () => {
        if (this.#owner === owner) this.#owner = undefined;
      },
    };
  }

  async listOpen(): Promise<{ readonly runs: readonly [] }> {
    return { runs: [] };
  }

  async prune(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  #claimed(): Error {
    return new this.#core.KernelError("RUN_CLAIMED", "Somebody else has the run.");
  }
}
