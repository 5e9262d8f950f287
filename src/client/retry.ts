import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { MINUTE, SECOND } from "../base/duration.js";
import type { Random } from "../base/random.js";
import { type Operation, takesIdempotencyKey } from "../contract/operation.js";
import { ApiError, NoAnswerError } from "./errors.js";

const BACKOFF: Backoff = { initialMs: SECOND / 2, factor: 2, maxMs: 8 * SECOND, jitter: 0.25 };

/** Longest Retry-After that a call waits for. A longer one ends the call, and the error says how long it is. */
export const MAX_RETRY_AFTER_MS = MINUTE;

/** The same for a call through `ctx.api`: its run would keep its place meanwhile, and the work can wait without it. */
export const MAX_RETRY_AFTER_IN_RUN_MS = 5 * SECOND;

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
  /** @default MAX_RETRY_AFTER_MS */
  maxRetryAfterMs?: number;
  random: Random;
}

/** Milliseconds until the next attempt, or undefined when the error is final. */
export function retryWait(input: RetryInput): number | undefined {
  const { error, retries, maxRetries, isRepeatable, maxRetryAfterMs = MAX_RETRY_AFTER_MS, random } = input;
  // Any other answer would be the same again.
  const isOurs = error instanceof ApiError || error instanceof NoAnswerError;
  if (!isRepeatable || retries >= maxRetries || !isOurs || !error.retryable) return undefined;
  const waitMs = backoffDelay(BACKOFF, retries + 1, random);
  const { retryAfterMs: askedMs = 0 } = error as Partial<ApiError>;
  return askedMs > maxRetryAfterMs ? undefined : Math.max(waitMs, askedMs);
}
