/**
 * What a host tells a run that this process holds, or has held.
 * Owns: the order of what is told of a run that was given back. Invariants: a run that was given back, since it
 * waits for approvals or has ended, is claimed again for one record at a time, and given back again (RUN-6).
 */
import type { RunFact, RunStore } from "../domain/run-store.ts";
import type { SessionCore } from "../run/session-core.ts";
import { FactRecorder } from "../run/store/fact-recorder.ts";
import { claimInTime } from "../run/store/store-time.ts";

/** See the file header. */
export class LateFacts {
  readonly #core: SessionCore;
  readonly #store: RunStore;
  #last: Promise<void> = Promise.resolve();

  constructor(core: SessionCore, store: RunStore) {
    this.#core = core;
    this.#store = store;
  }

  /**
   * Records a fact; durable when the promise resolves. Rejects with `RUN_CLAIMED` where somebody else holds the
   * run by now, with `RUN_NOT_FOUND` where it is gone, with `JOURNAL_*` where it cannot be recorded.
   */
  record(fact: RunFact): Promise<void> {
    const { recorder } = this.#core;
    if (recorder !== undefined && !recorder.isReleased) return recorder.record([fact]);
    const recorded = this.#last.then(() => this.#recordLate(fact));
    this.#last = recorded.catch(() => undefined);
    return recorded;
  }

  async #recordLate(fact: RunFact): Promise<void> {
    const { recorder, settings } = this.#core;
    // Whoever gives it back has to be done with that.
    await recorder?.release().catch(() => undefined);
    const claim = await claimInTime(settings.steady, this.#store.claim(settings.runId, { create: false }));
    const late = new FactRecorder(claim, settings.steady, () => undefined);
    try {
      await late.record([fact]);
    } finally {
      await late.release().catch(() => undefined);
    }
  }
}
