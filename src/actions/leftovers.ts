/**
 * Steps that have to be taken some time, and that nobody waits for.
 * Owns: the steps, in order. Invariant: one is on its way at a time, so that a journal that comes back is
 * not overrun by what an outage has left; a step that is refused for good is dropped, since it is of no use.
 */
import type { Clock } from "../domain/ports.ts";
import { insist } from "./insist.ts";

/** See the file header. */
export class Leftovers {
  readonly #clock: Clock;
  readonly #isUseful: () => boolean;
  #steps: (() => Promise<unknown>)[] = [];
  #isWorking = false;

  /** `isUseful` is asked before every try; once it says no, everything is dropped. */
  constructor(clock: Clock, isUseful: () => boolean) {
    this.#clock = clock;
    this.#isUseful = isUseful;
  }

  /** Adds a step that may be taken more than once. */
  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) {
      if (!this.#isUseful()) this.#steps = [];
      else await insist({ clock: this.#clock, step, untilMs: Number.POSITIVE_INFINITY, isUseful: this.#isUseful });
    }
    this.#isWorking = false;
  }
}
