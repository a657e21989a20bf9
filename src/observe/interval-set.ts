/**
 * Stretches of time, measured without counting any moment twice.
 * Owns: the moments taken in, as stretches that do not touch, in order. A batch's waits come nearly in
 * order of their end, so taking one in looks at the last stretches only.
 */
export class IntervalSet {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** Takes a stretch in; one without length is left out. */
  add(startMs: number, endMs: number): void {
    if (endMs <= startMs) return;
    let after = this.#starts.length;
    while (after > 0 && (this.#starts[after - 1] ?? 0) > endMs) after -= 1;
    let first = after;
    while (first > 0 && (this.#ends[first - 1] ?? 0) >= startMs) first -= 1;
    if (first === after) {
      this.#starts.splice(first, 0, startMs);
      this.#ends.splice(first, 0, endMs);
      return;
    }
    // Those from `first` to `after` touch the new one: one stretch takes the place of all.
    this.#starts[first] = Math.min(startMs, this.#starts[first] ?? startMs);
    this.#ends[first] = Math.max(endMs, this.#ends[after - 1] ?? endMs);
    if (after - first === 1) return;
    this.#starts.splice(first + 1, after - first - 1);
    this.#ends.splice(first + 1, after - first - 1);
  }

  /** Forgets all. */
  clear(): void {
    this.#starts.length = 0;
    this.#ends.length = 0;
  }

  /** Milliseconds that lie in at least one stretch. */
  lengthMs(): number {
    return this.#ends.reduce((totalMs, endMs, index) => totalMs + endMs - (this.#starts[index] ?? endMs), 0);
  }

  /** Milliseconds that lie in a stretch of this set and in none of the other. */
  lengthOutsideMs(other: IntervalSet): number {
    if (other.#starts.length === 0) return this.lengthMs();
    const both = new IntervalSet();
    for (const set of [this, other]) {
      for (const [index, startMs] of set.#starts.entries()) both.add(startMs, set.#ends[index] ?? startMs);
    }
    return both.lengthMs() - other.lengthMs();
  }
}
