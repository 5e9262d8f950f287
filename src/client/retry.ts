import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { isRetryableAnswer } from "../base/http.js";
import type { Random } from "../base/random.js";
import { type Operation, takesIdempotencyKey } from "../contract/operation.js";
import { ApiError, NoAnswerError } from "./errors.js";

const BACKOFF: Backoff = { initialMs: SECOND / 2, factor: 2, maxMs: 8 * SECOND, jitter: 0.25 };

/** Longest Retry-After that a call waits for. A longer one ends the call, and the error says how long it is. */
export const MAX_RETRY_AFTER_MS = MINUTE;

/** True when the call may be sent again although it may have taken effect. */
export function isRepeatable(operation: Operation, idempotencyKey: string | undefined): boolean {
  if (operation.retry === "safe" || operation.retry === "repeatable") return true;
  return takesIdempotencyKey(operation) && idempotencyKey !== undefined;
}

/** What decides about a retry. */
export interface RetryInput {
  error: unknown;
  /** Number of retries so far. */
  retries: number;
  maxRetries: number;
  isRepeatable: boolean;
  random: Random;
}

/** Milliseconds until the next attempt, or undefined when the error is final. */
export function retryWait({ error, retries, maxRetries, isRepeatable, random }: RetryInput): number | undefined {
  if (!isRepeatable || retries >= maxRetries || !isTransient(error)) return undefined;
  const waitMs = backoffDelay(BACKOFF, retries + 1, random);
  const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return askedMs > MAX_RETRY_AFTER_MS ? undefined : Math.max(waitMs, askedMs);
}

/** Any answer that is not retryable would be the same again. */
function isTransient(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  return error instanceof ApiError && isRetryableAnswer(error.status);
}
