import { RUN_TIME_BOUNDS } from "../base/run-time-bounds.js";

/** Counts by how long it took, by the buckets of {@link RUN_TIME_BOUNDS}. To count adds to a number, nothing else. */
export class TimeBuckets {
  readonly #counts = new Uint32Array(RUN_TIME_BOUNDS.length);

  count(tookMs: number): void {
    const bucket = bucketOf(tookMs);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** What was counted since the last call, by bucket. */
  take(): number[] {
    const counts = [...this.#counts];
    this.#counts.fill(0);
    return counts;
  }
}

/** The place of the bucket that a time is in. */
export function bucketOf(tookMs: number): number {
  let bucket = 0;
  while (bucket + 1 < RUN_TIME_BOUNDS.length && (RUN_TIME_BOUNDS[bucket + 1] ?? 0) <= tookMs) bucket += 1;
  return bucket;
}
