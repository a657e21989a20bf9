/**
 * The entries that an inspector server has to tell, and who listens.
 * Owns: the newest entries up to a bound, the listeners. Invariants: a listener is told every kept entry after
 * the one it knows, in order, once; the oldest entries go when there are too many; nobody is waited for.
 */
import type { RecordingEntry } from "../recording/entry.ts";

/** Somebody who is told: entries, and the number of the newest of them. */
export type FeedListener = (entries: readonly RecordingEntry[], newest: number) => void;

/** How many entries are kept for pages that open later. */
export const MOST_KEPT_ENTRIES = 100_000;

/** See the file header. */
export class EntryFeed {
  readonly #listeners = new Set<FeedListener>();
  #entries: RecordingEntry[] = [];
  /** The number of the first kept entry; numbers rise by one, the first is 0. */
  #first = 0;

  /** Takes the next entry. */
  add(entry: RecordingEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > MOST_KEPT_ENTRIES) {
      const tooMany = this.#entries.length - MOST_KEPT_ENTRIES / 2;
      this.#entries = this.#entries.slice(tooMany);
      this.#first += tooMany;
    }
    const newest = this.#first + this.#entries.length - 1;
    for (const listener of this.#listeners) listener([entry], newest);
  }

  /** Tells all kept entries after a number at once, then each as it comes; answers a function that stops it. */
  listen(known: number, listener: FeedListener): () => void {
    const missed = this.#entries.slice(Math.max(0, known + 1 - this.#first));
    if (missed.length > 0) listener(missed, this.#first + this.#entries.length - 1);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
