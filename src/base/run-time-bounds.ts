import { MINUTE, SECOND } from "./duration.js";

/** The bounds between 1 and 10; each is about 10 % more than the one before. */
const STEPS = [1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.7, 3, 3.3, 3.6, 4, 4.5, 5, 5.5, 6, 6.5, 7.2, 8, 9];

const MAX_BOUND_MS = 5 * MINUTE;

/**
 * Runs and answers are counted by how long they took. These are the lower bounds of the counts' buckets, in
 * milliseconds; the last one has no end.
 */
export const RUN_TIME_BOUNDS: readonly number[] = [
  0,
  ...[1, 10, 100, 1_000, 10_000, 100_000]
    .flatMap((decade) => STEPS.map((step) => Math.round(step * decade * 10) / 10))
    .filter((bound) => bound <= MAX_BOUND_MS),
];

/** Where the bucket ends that begins there; undefined for the last one. */
export function runTimeEnd(fromMs: number): number | undefined {
  return RUN_TIME_BOUNDS.find((bound) => bound > fromMs);
}

/** Such as `20 ms`, `2.2 s` or `5 min`: a bound is written as it is, to a tenth. */
export function formatRunTimeBound(ms: number): string {
  const [unit, name] = ms < SECOND ? [1, "ms"] : ms < MINUTE ? [SECOND, "s"] : [MINUTE, "min"];
  return `${Math.round((ms / unit) * 10) / 10} ${name}`;
}

/** A time of which only the end of its bucket is known: `< 20 ms`, or `> 5 min` for the bucket without an end. */
export function describeRunTime(endMs: number | null | undefined): string {
  if (endMs !== null && endMs !== undefined) return `< ${formatRunTimeBound(endMs)}`;
  return `> ${formatRunTimeBound(MAX_BOUND_MS)}`;
}
