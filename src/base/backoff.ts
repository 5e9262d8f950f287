import type { Random } from "./random.js";

/** Waits that grow by a factor, each varied by chance. */
export interface Backoff {
  /** First wait in milliseconds. */
  initialMs: number;
  /** What each wait is multiplied by to give the next. */
  factor: number;
  /** No wait is longer than this, before the jitter. */
  maxMs: number;
  /** Share by which a wait varies both ways, 0 to 1. */
  jitter: number;
}

/** The wait in whole milliseconds after failure number `failures` (1 for the first). */
export function backoffDelay(backoff: Backoff, failures: number, random: Random): number {
  // The power overflows to Infinity some day, and no wait at all times that is not a number.
  const grown = backoff.initialMs === 0 ? 0 : backoff.initialMs * backoff.factor ** (failures - 1);
  const base = Math.min(grown, backoff.maxMs);
  return Math.round(base * (1 + backoff.jitter * (2 * random() - 1)));
}
