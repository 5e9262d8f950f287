import { HOUR, MINUTE } from "../base/duration.js";
import { isRetryableAnswer } from "../base/http.js";
import type { Random } from "../base/random.js";

/** When the service tries a delivery again. See docs/service.md#retries. */
export const RETRY_SCHEDULE = {
  /** Tries in all, the first one included. */
  attempts: 8,
  /** Milliseconds between one attempt and the next; `waitsMs[0]` follows the first. */
  waitsMs: [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** Share by which each wait varies both ways. */
  jitter: 0.1,
  /** A wait is stretched to the receiver's Retry-After, up to this many milliseconds. */
  maxRetryAfterMs: 6 * HOUR,
} as const;

/**
 * The longest time in milliseconds between the first attempt and the last (55 hours): every wait stretched as far as
 * the service stretches, and the jitter on top, since the service's documentation does not say which of the two comes
 * first.
 */
export const MAX_RETRY_SPAN_MS = RETRY_SCHEDULE.waitsMs.reduce(
  (span, waitMs) => span + Math.round(Math.max(waitMs, RETRY_SCHEDULE.maxRetryAfterMs) * (1 + RETRY_SCHEDULE.jitter)),
  0,
);

/**
 * True when the service sends the delivery again after this answer: `null` (no answer in time, or no connection), 408,
 * 425, 429 and 5xx. Any other answer that is not 2xx loses the event. See docs/service.md#retries.
 */
export function isRetryableStatus(status: number | null): boolean {
  return status === null || isRetryableAnswer(status);
}

/** True when the service takes the delivery as delivered: any 2xx. See docs/service.md#delivery. */
export function isDeliveredStatus(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Options of {@link retryDelay}. */
export interface RetryDelayInput {
  /** Number of the attempt that failed; 1 for the first. */
  attempt: number;
  /** Chooses the jitter. */
  random: Random;
  /** The receiver's Retry-After in milliseconds, when it sent one. */
  retryAfterMs?: number | undefined;
}

/** Milliseconds until the attempt after `attempt`, or undefined when that was the last. */
export function retryDelay({ attempt, random, retryAfterMs = 0 }: RetryDelayInput): number | undefined {
  const waitMs = RETRY_SCHEDULE.waitsMs[attempt - 1];
  if (waitMs === undefined) return undefined;
  const varied = Math.round(waitMs * (1 + RETRY_SCHEDULE.jitter * (2 * random() - 1)));
  return Math.max(varied, Math.min(retryAfterMs, RETRY_SCHEDULE.maxRetryAfterMs));
}
