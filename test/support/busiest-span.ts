/** The most times that any span of that length has; a span ends before the time at its other end. */
export function busiestSpan(times: readonly number[], length: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.map((begin, place) => sorted.slice(place).filter((t) => t < begin + length).length));
}
