import { RUN_TIME_BOUNDS } from "../base/run-time-bounds.js";

/**
 * Counts by how long it took: the place of a bucket in {@link RUN_TIME_BOUNDS}, its count, the next place, and so on,
 * ascending, buckets without any left out. It is stored so, as JSON.
 */
export type TimeCounts = readonly number[];

/** Counts by how long it took. To count adds to a number, nothing else. */
export class TimeBuckets {
  readonly #counts = new Uint32Array(RUN_TIME_BOUNDS.length);

  count(tookMs: number): void {
    const bucket = bucketOf(tookMs);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** What was counted since the last call. */
  take(): TimeCounts {
    const taken = [...this.#counts].flatMap((count, bucket) => (count === 0 ? [] : [bucket, count]));
    this.#counts.fill(0);
    return taken;
  }
}

/** The place of the bucket that a time is in. */
export function bucketOf(tookMs: number): number {
  let [bucket, after] = [0, RUN_TIME_BOUNDS.length];
  while (after - bucket > 1) {
    const middle = (bucket + after) >> 1;
    if ((RUN_TIME_BOUNDS[middle] ?? Infinity) <= tookMs) bucket = middle;
    else after = middle;
  }
  return bucket;
}

export function sumTimes(one: TimeCounts, other: TimeCounts): TimeCounts {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one;
  const sum: number[] = [];
  let [at, from] = [0, 0];
  while (at < one.length || from < other.length) {
    const [bucket = Infinity, count = 0] = [one[at], one[at + 1]];
    const [otherBucket = Infinity, otherCount = 0] = [other[from], other[from + 1]];
    sum.push(
      Math.min(bucket, otherBucket),
      (bucket <= otherBucket ? count : 0) + (otherBucket <= bucket ? otherCount : 0),
    );
    if (bucket <= otherBucket) at += 2;
    if (otherBucket <= bucket) from += 2;
  }
  return sum;
}

export function countTimes(counts: TimeCounts): number {
  let sum = 0;
  for (let place = 1; place < counts.length; place += 2) sum += counts[place] ?? 0;
  return sum;
}

/** Where the bucket begins in which this share of the counted is reached; undefined when nothing was counted. */
export function timeAt(counts: TimeCounts, share: number): number | undefined {
  let left = share * countTimes(counts);
  for (let place = 0; place < counts.length; place += 2) {
    left -= counts[place + 1] ?? 0;
    if (left <= 0) return RUN_TIME_BOUNDS[counts[place] ?? 0];
  }
  return undefined;
}
