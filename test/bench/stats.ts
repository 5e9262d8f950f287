/** The middle of the values, NaN when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/** The value below which `share` (0 to 1) of an ascending array lies; NaN when it is empty. */
export function percentile(sorted: Float64Array | readonly number[], share: number): number {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return sorted[index] ?? Number.NaN;
}

/** `measure` of each key divided by that of the base in the same round, then the median over the rounds. */
export function medianRatio(values: readonly number[], base: readonly number[]): number {
  return median(values.flatMap((value, round) => (base[round] === undefined ? [] : [value / base[round]])));
}
