import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { DAY, HOUR, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionNames, checkOptionNames, checkWholeNumber } from "../base/option-check.js";
import type { Random } from "../base/random.js";

/** How often and when a failing handler runs again. */
export interface RetryPolicy extends Backoff {
  /** Runs in all, the first included. */
  maxAttempts: number;
}

/** 14 runs over about 23 hours: 10 s, 20 s, 40 s, … 11.4 h, each varied by a fifth. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 14,
  initialMs: 10 * SECOND,
  factor: 2,
  maxMs: 12 * HOUR,
  jitter: 0.2,
};

const OPTION_NAMES: OptionNames<RetryPolicy> = {
  maxAttempts: true,
  initialMs: true,
  factor: true,
  maxMs: true,
  jitter: true,
};

const MAX_WAIT_MS = 90 * DAY;

/** Fills a partial policy and throws `invalid_option` for what cannot be used. */
export function resolveRetry(option: string, partial: Partial<RetryPolicy> = {}, base = DEFAULT_RETRY): RetryPolicy {
  checkOptionNames(option, partial, OPTION_NAMES);
  const policy = { ...base, ...partial };
  checkWholeNumber(`${option}.maxAttempts`, policy.maxAttempts, { min: 1, max: 1_000 });
  checkWholeNumber(`${option}.initialMs`, policy.initialMs, { min: 0, max: MAX_WAIT_MS });
  checkWholeNumber(`${option}.maxMs`, policy.maxMs, { min: 0, max: MAX_WAIT_MS });
  checkShare(`${option}.factor`, policy.factor, 1, 100);
  checkShare(`${option}.jitter`, policy.jitter, 0, 1);
  return policy;
}

/** When the next run is due after failure number `failures`, or undefined when the attempts are spent. */
export function nextAttemptAt(policy: RetryPolicy, failures: number, now: number, random: Random): number | undefined {
  return failures < policy.maxAttempts ? now + backoffDelay(policy, failures, random) : undefined;
}

function checkShare(option: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be a number from ${min} to ${max}, got ${String(value)}.`,
  );
}
