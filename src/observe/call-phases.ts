/** Without a result and not dispatched, or with an executor that runs. */
export type CallPhase = "waiting" | "running";

/**
 * Owns: which calls of the batch that runs have no result yet, and which of them run, by their index in
 * the response; one batch of a run runs at a time.
 */
export class CallPhases {
  readonly #phases: (CallPhase | undefined)[] = [];
  #open = 0;
  #running = 0;

  /** How many calls have no result. */
  get open(): number {
    return this.#open;
  }

  /** How many of them run. */
  get running(): number {
    return this.#running;
  }

  /** A call is there; nothing changes if it was. */
  begin(callIndex: number): void {
    if (this.#phases[callIndex] !== undefined) return;
    this.#phases[callIndex] = "waiting";
    this.#open += 1;
  }

  /** A call is dispatched. */
  run(callIndex: number): void {
    this.begin(callIndex);
    if (this.#phases[callIndex] === "running") return;
    this.#phases[callIndex] = "running";
    this.#running += 1;
  }

  /** A call has its result; returns what it was before. */
  end(callIndex: number): CallPhase | undefined {
    const phase = this.#phases[callIndex];
    if (phase === undefined) return undefined;
    this.#phases[callIndex] = undefined;
    this.#open -= 1;
    if (phase === "running") this.#running -= 1;
    return phase;
  }

  /** No executor runs any more; the calls still have no result. */
  stopAll(): void {
    for (const [callIndex, phase] of this.#phases.entries()) {
      if (phase === "running") this.#phases[callIndex] = "waiting";
    }
    this.#running = 0;
  }

  /** Forgets all calls. */
  clear(): void {
    this.#phases.length = 0;
    this.#open = 0;
    this.#running = 0;
  }
}
