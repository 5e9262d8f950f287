import type { Random } from "./random.js";
import { SECOND } from "./duration.js";

/** Waits that grow by a factor, each with random jitter. */
export interface Backoff {
  /** First wait in milliseconds. */
  initialMs: number;
  /** Each wait is the one before it times this factor. */
  factor: number;
  /** No wait is longer than this, before the jitter. */
  maxMs: number;
  /** Share of the wait, 0 to 1, by which it varies up or down. */
  jitter: number;
}

/** The wait in whole milliseconds after failure number `failures` (1 for the first). */
export function backoffDelay(backoff: Backoff, failures: number, random: Random): number {
  // The power overflows to Infinity in the end, and 0 times Infinity is NaN.
  const grown = backoff.initialMs === 0 ? 0 : backoff.initialMs * backoff.factor ** (failures - 1);
  const base = Math.min(grown, backoff.maxMs);
  return Math.round(base * (1 + backoff.jitter * (2 * random() - 1)));
}

/** Reads Retry-After as milliseconds from `nowMs`: whole seconds or an HTTP date; undefined when it is neither. */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  // Date.parse accepts much that is not an HTTP date.
  if (!/^[A-Za-z]{3,9}, .* GMT$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
