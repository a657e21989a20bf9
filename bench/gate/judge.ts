/** What the gate measures; ratios and counts, so that no machine is too slow for them. */
export interface GateFigures {
  /** CPU per call with 10,000 calls in a response, in units of that with 100. */
  readonly growth: number;
  /** CPU of the last 100 of 1,000 turns, in units of the first 100. */
  readonly lastToFirst: number;
  /** Makespan of the mixed response, in units of the best that the rules allow. */
  readonly makespanToIdeal: number;
  /** Overlaps that the rules forbid, and results or changes lost. */
  readonly unsafe: number;
  /** Bytes allocated per call in the fixed scenario. */
  readonly bytesPerCall: number;
}

/** What is allowed: bounds, and the bytes of the committed baseline. */
export interface GateBounds {
  readonly growth: number;
  readonly lastToFirst: number;
  readonly makespanToIdeal: number;
  readonly bytesPerCall: number;
  /** By what factor the bytes may pass the baseline; engines of another patch level allocate a little differently. */
  readonly bytesTolerance: number;
}

/** What is wrong, a line each; empty when the gate is passed. */
export function judgeFigures(figures: GateFigures, bounds: GateBounds): string[] {
  const faults: string[] = [];
  const hold = (what: string, value: number, most: number): void => {
    // Written so that what was not measured does not pass.
    if (!(value <= most)) faults.push(`${what} is ${value.toFixed(2)}, more than ${most.toFixed(2)}`);
  };
  hold("the growth of the cost per call from 100 to 10,000 calls", figures.growth, bounds.growth);
  hold("the last 100 of 1,000 turns against the first 100", figures.lastToFirst, bounds.lastToFirst);
  hold("the makespan against the ideal", figures.makespanToIdeal, bounds.makespanToIdeal);
  hold("the count of unsafe overlaps and losses", figures.unsafe, 0);
  hold("allocation per call, in bytes,", figures.bytesPerCall, bounds.bytesPerCall * bounds.bytesTolerance);
  return faults;
}
