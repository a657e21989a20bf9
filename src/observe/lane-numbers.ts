/**
 * Owns: which number stands for which conflict key of a run. A key is made from arguments, a number tells
 * nothing of it (OBS-3); the same key has the same number throughout the run.
 */
export class LaneNumbers {
  readonly #numbers = new Map<string, number>();

  /** The numbers of keys, in their order; a key not seen before takes the next one, the first is 0. */
  of(conflictKeys: readonly string[]): readonly number[] {
    return conflictKeys.map((key) => {
      const number = this.#numbers.get(key) ?? this.#numbers.size;
      this.#numbers.set(key, number);
      return number;
    });
  }
}
