/** The middle value; of an even number the mean of the two in the middle. NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The median of the ratios of values to their baselines, round by round, so that slow rounds weigh nothing. */
export function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  const ratios = values.flatMap((value, round) => {
    const baseline = baselines[round];
    return baseline === undefined || baseline === 0 ? [] : [value / baseline];
  });
  return median(ratios);
}
