import { MINUTE, SECOND } from "./duration.js";

/**
 * Runs and answers are counted by how long they took. These are the lower bounds of the counts' buckets, in
 * milliseconds; the last one has no end.
 */
export const RUN_TIME_BOUNDS: readonly number[] = [
  0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 120_000, 300_000,
];

/** Where the bucket ends that begins there; undefined for the last one. */
export function runTimeEnd(fromMs: number): number | undefined {
  return RUN_TIME_BOUNDS.find((bound) => bound > fromMs);
}

/** Such as `20 ms`, `2 s` or `5 min`: a bound is written as it is. */
export function formatRunTimeBound(ms: number): string {
  if (ms < SECOND) return `${ms} ms`;
  return ms < MINUTE ? `${ms / SECOND} s` : `${ms / MINUTE} min`;
}

/** A time of which only the end of its bucket is known: `< 20 ms`, or `> 5 min` for the bucket without an end. */
export function describeRunTime(endMs: number | null | undefined): string {
  if (endMs !== null && endMs !== undefined) return `< ${formatRunTimeBound(endMs)}`;
  return `> ${formatRunTimeBound(RUN_TIME_BOUNDS.at(-1) ?? 0)}`;
}
