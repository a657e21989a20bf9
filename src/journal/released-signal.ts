import type { Released } from "../domain/journal.ts";

/**
 * Who wants to know that scopes may have become free.
 * Owns: the listeners of one journal. Invariant: told in the order they came; one that leaves is told no more.
 */
export class ReleasedSignal {
  readonly #listeners = new Set<(released: Released) => void>();

  /** Adds a listener; returns a function that removes it. */
  add(listener: (released: Released) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Tells every listener. */
  tell(released: Released): void {
    for (const listener of [...this.#listeners]) listener(released);
  }
}
