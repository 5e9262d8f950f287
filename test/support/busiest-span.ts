/** The most times that any span of that length has; a span ends before the time at its other end. */
export function busiestSpan(times: readonly number[], length: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let begin = 0;
  let most = 0;
  for (const [index, time] of sorted.entries()) {
    while ((sorted[begin] ?? time) <= time - length) begin += 1;
    most = Math.max(most, index + 1 - begin);
  }
  return most;
}
