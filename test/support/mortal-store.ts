/**
 * A run store of a process that can die, or whose store can fail, at any append.
 * Owns: the log of what is durable, how many appends there were, the calls that hang since the process died.
 * Does not own: the rules of a store, which are memoryRunStore's. Invariants: nothing of a dead process takes
 * effect; facts are JSON and come back as they were given.
 */
import { KernelError, memoryRunStore, type RunClaim, type RunFact, type RunProgress, type RunStore } from "toolkernel";
import { expect } from "vitest";

/** What happens at an append (the first of a store is 0). */
export type Fate =
  /** The process dies: before the append has taken effect, or behind it and before anybody knows. */
  | { readonly kind: "dies"; readonly at: number; readonly when: "before" | "after" }
  /** This append and so many behind it reject, as many times as they are tried. */
  | { readonly kind: "rejects"; readonly at: number; readonly times: number };

/** One append that took effect. */
export interface Recorded {
  readonly facts: readonly RunFact[];
  readonly progress: RunProgress | undefined;
}

/** See the file header. One run lives in it. */
export class MortalStore implements RunStore {
  /** What is durable, append by append; what a predecessor left is the first. */
  readonly log: Recorded[];
  /** How often it was asked to append, rejections included. */
  appends = 0;
  isDead = false;
  isClaimed = false;
  progress: RunProgress | undefined;
  readonly #inner: RunStore = memoryRunStore();
  readonly #fate: Fate | undefined;
  readonly #hanging: ((error: Error) => void)[] = [];
  readonly #onDeath: (() => void)[] = [];
  #runId: string | undefined;
  #isAwake = false;

  constructor(fate?: Fate, left: readonly Recorded[] = []) {
    this.#fate = fate;
    this.log = [...left];
  }

  /** Every fact that is durable. */
  get facts(): readonly RunFact[] {
    return this.log.flatMap(({ facts }) => facts);
  }

  /** Tells when the process dies. */
  onDeath(listener: () => void): void {
    this.#onDeath.push(listener);
  }

  /** The store as the next process finds it, once it is known that this one is dead. */
  successor(fate?: Fate): MortalStore {
    return new MortalStore(fate, this.log);
  }

  /** The dead process turns out to have slept: what it still asks for is refused, since another has its run. */
  wake(): void {
    this.isDead = true;
    this.#isAwake = true;
    for (const reject of this.#hanging.splice(0)) reject(claimed());
  }

  async claim(runId: string, options: { readonly create: boolean }): Promise<RunClaim> {
    await this.#lay(runId);
    if (this.isDead) return this.hang();
    const claim = await this.#inner.claim(runId, options);
    this.isClaimed = true;
    return {
      runId,
      facts: claim.facts,
      append: (facts, progress) => this.#append(claim, { facts, progress }),
      release: async () => {
        if (this.isDead) return this.hang();
        this.isClaimed = false;
        await claim.release();
      },
    };
  }

  listOpen: RunStore["listOpen"] = (options) => this.#inner.listOpen(options);
  prune: RunStore["prune"] = (options) => this.#inner.prune(options);
  close: RunStore["close"] = () => this.#inner.close();
  [Symbol.asyncDispose] = (): Promise<void> => this.close();

  /** Puts down what a predecessor left. */
  async #lay(runId: string): Promise<void> {
    const isFirst = this.#runId === undefined;
    this.#runId = runId;
    if (!isFirst || this.log.length === 0) return;
    const claim = await this.#inner.claim(runId, { create: true });
    for (const { facts, progress } of this.log) await claim.append(facts, progress);
    await claim.release();
  }

  async #append(claim: RunClaim, given: Recorded): Promise<void> {
    if (this.isDead) return this.hang();
    const place = this.appends;
    this.appends += 1;
    const fate = this.#fate;
    if (fate?.kind === "rejects" && place >= fate.at && place < fate.at + fate.times)
      throw new Error("the disk is gone");
    if (fate?.kind === "dies" && fate.at === place && fate.when === "before") return this.#die();
    expect(JSON.parse(JSON.stringify(given.facts))).toEqual(given.facts);
    await claim.append(given.facts, given.progress);
    this.log.push(JSON.parse(JSON.stringify(given)) as Recorded);
    this.progress = given.progress ?? this.progress;
    if (fate?.kind === "dies" && fate.at === place) return this.#die();
  }

  #die(): Promise<never> {
    this.isDead = true;
    for (const listener of this.#onDeath) listener();
    return this.hang();
  }

  /** What a dead process waits for: that it turns out to have slept. */
  hang(): Promise<never> {
    if (this.#isAwake) return Promise.reject(claimed());
    return new Promise((_resolve, reject) => this.#hanging.push(reject));
  }
}

function claimed(): KernelError {
  return new KernelError("RUN_CLAIMED", "Somebody else has the run now.", { subject: "runId" });
}
