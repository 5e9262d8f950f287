import { type Backoff, backoffDelay } from "../base/backoff.js";
import { MINUTE, SECOND } from "../base/duration.js";
import type { Random } from "../base/random.js";
import { type Operation, takesIdempotencyKey } from "../contract/operation.js";
import { ApiError, NoAnswerError } from "./errors.js";

const BACKOFF: Backoff = { initialMs: SECOND / 2, factor: 2, maxMs: 8 * SECOND, jitter: 0.25 };

/** A call waits no longer than this for a Retry-After; a longer one ends it, and the error says how long. */
export const LONGEST_RETRY_AFTER_MS = MINUTE;

/** True when the call may be sent again after an answer that leaves open whether it took effect. */
export function isRepeatable(operation: Operation, idempotencyKey: string | undefined): boolean {
  return operation.retry === "safe" || (takesIdempotencyKey(operation) && idempotencyKey !== undefined);
}

/** What decides about a retry. */
export interface RetryInput {
  error: unknown;
  /** Retries made so far. */
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
  return askedMs > LONGEST_RETRY_AFTER_MS ? undefined : Math.max(waitMs, askedMs);
}

/** No answer, 408, 425, 429 and 5xx pass; any other answer stays what it is. */
function isTransient(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
