/**
 * The entries that an inspector server has to tell, and who waits for them.
 * Owns: the newest entries up to a bound, who is waked. Invariants: whoever asks for what follows an entry is
 * given the kept ones in order, once; the oldest entries go when there are too many; nobody is waited for, and
 * nothing is kept for one reader that is not kept for all.
 */
import type { RecordingEntry } from "../recording/entry.ts";

/** Some entries as JSON text, and the number of the newest of them. */
export interface FeedPiece {
  readonly text: string;
  readonly newest: number;
}

/** How many entries are kept for pages that open later. */
export const MOST_KEPT_ENTRIES = 100_000;
/** A piece ends with the entry that makes it as long as this; what one write holds is not let go before it is read. */
const PIECE_CHARACTERS = 1_000_000;

/** See the file header. */
export class EntryFeed {
  readonly #waiting = new Set<() => void>();
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
    for (const wake of this.#waiting) wake();
  }

  /** The kept entries after a number, as many as one piece holds; undefined when there is none. */
  pieceAfter(known: number): FeedPiece | undefined {
    const start = Math.max(0, known + 1 - this.#first);
    const texts: string[] = [];
    let characters = 0;
    for (let index = start; index < this.#entries.length && characters < PIECE_CHARACTERS; index++) {
      const text = JSON.stringify(this.#entries[index]);
      characters += text.length;
      texts.push(text);
    }
    if (texts.length === 0) return undefined;
    return { text: `[${texts.join(",")}]`, newest: this.#first + start + texts.length - 1 };
  }

  /** Wakes somebody after each new entry; returns a function that ends that. */
  listen(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}
