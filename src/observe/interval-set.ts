/** Owns: stretches of time of one batch, which may overlap; measured without counting any moment twice. */
export class IntervalSet {
  readonly #intervals: (readonly [startMs: number, endMs: number])[] = [];

  /** Takes a stretch in; one without length is left out. */
  add(startMs: number, endMs: number): void {
    if (endMs > startMs) this.#intervals.push([startMs, endMs]);
  }

  /** Forgets all. */
  clear(): void {
    this.#intervals.length = 0;
  }

  /** Milliseconds that lie in at least one stretch. */
  lengthMs(): number {
    return unionMs(this.#intervals);
  }

  /** Milliseconds that lie in a stretch of this set and in none of the other. */
  lengthOutsideMs(other: IntervalSet): number {
    return unionMs([...this.#intervals, ...other.#intervals]) - other.lengthMs();
  }
}

function unionMs(intervals: readonly (readonly [number, number])[]): number {
  let totalMs = 0;
  let coveredUntilMs = Number.NEGATIVE_INFINITY;
  for (const [startMs, endMs] of intervals.toSorted(([first], [second]) => first - second)) {
    if (endMs <= coveredUntilMs) continue;
    totalMs += endMs - Math.max(startMs, coveredUntilMs);
    coveredUntilMs = endMs;
  }
  return totalMs;
}
