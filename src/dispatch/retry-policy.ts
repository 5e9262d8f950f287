import { PigeonholeError } from "../base/error.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import type { WaitHolds } from "../store/work.js";
import { DAY, HOUR, SECOND } from "../base/duration.js";
import { type Changes, type OptionsOf, defineOptions, number, wholeNumber } from "../base/options.js";
import type { Random } from "../base/random.js";

/** How often and when a failing handler runs again. */
export interface RetryPolicy extends Backoff {
  /** Runs in all, the first included. */
  maxAttempts: number;
}

const MAX_WAIT_MS = 90 * DAY;

/** The defaults and checks of {@link RetryPolicy}. */
export const RETRY_OPTIONS = defineOptions("retry", {
  maxAttempts: wholeNumber({ default: 14, min: 1, max: 1_000 }),
  initialMs: wholeNumber({ default: 10 * SECOND, min: 0, max: MAX_WAIT_MS }),
  factor: number({ default: 2, min: 1, max: 100 }),
  maxMs: wholeNumber({ default: 12 * HOUR, min: 0, max: MAX_WAIT_MS }),
  jitter: number({ default: 0.2, min: 0, max: 1 }),
} satisfies OptionsOf<RetryPolicy>);

/** 14 runs over about 23 hours: 10 s, 20 s, 40 s, … 11.4 h, each varied by a fifth. */
export const DEFAULT_RETRY: RetryPolicy = RETRY_OPTIONS.resolve({}, { place: "retry", prefix: "retry." });

/** Fills a partial policy and throws `invalid_option` for what cannot be used. */
export function resolveRetry(option: string, partial: Changes<RetryPolicy> = {}, base = DEFAULT_RETRY): RetryPolicy {
  // A value that is undefined is as one that is omitted.
  RETRY_OPTIONS.checkNames(partial, option);
  const changes = Object.fromEntries(Object.entries(partial).filter(([, value]) => value !== undefined));
  return RETRY_OPTIONS.resolve({ ...base, ...changes }, { place: option, prefix: `${option}.` });
}

/** When the next run is due after failure number `failures`, or undefined when the attempts are spent. */
export function nextAttemptAt(policy: RetryPolicy, failures: number, now: number, random: Random): number | undefined {
  return failures < policy.maxAttempts ? now + backoffDelay(policy, failures, random) : undefined;
}

/** The waits of a policy together, without jitter. */
export function spanOf(policy: RetryPolicy): number {
  let span = 0;
  for (let failures = 1; failures < policy.maxAttempts; failures += 1) {
    span += backoffDelay({ ...policy, jitter: 0 }, failures, Math.random);
  }
  return span;
}

/** Thrown by a handler to say that no further attempt can help: the work is dead at once. */
export class DoNotRetry extends Error {
  override readonly name = "DoNotRetry";
}

/** The last moment of a JavaScript date; a later one could not be kept. */
const LATEST_MS = 8.64e15;

/** Further choices of {@link RetryAfter}. */
export interface RetryAfterOptions extends ErrorOptions {
  /** `handler`: no other event of the handler begins before, if the wait is free. @default no other event waits */
  holds?: "handler" | undefined;
}

/**
 * Thrown by a handler to choose the time of its next run on the event. It spends no attempt, unless the wait is shorter
 * than a second, or the first one of the event began longer ago than all waits of the retry policy take together.
 */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";
  /** A wait in milliseconds, or a moment. */
  readonly when: number | Date;
  /** Whether other events of the handler wait too. */
  readonly holds: WaitHolds;

  /** Throws `invalid_argument` for a negative, unreadable or absurdly late time, and for another value or option. */
  constructor(message: string, when: number | Date, options?: RetryAfterOptions) {
    super(message, options);
    const value = when instanceof Date ? when.getTime() : when;
    if (!Number.isFinite(value) || value < 0 || value > LATEST_MS) {
      throw new PigeonholeError(
        "invalid_argument",
        "RetryAfter takes milliseconds from 0 to 8.64e15, or a valid Date.",
      );
    }
    const { holds, cause: _, ...others } = options ?? {};
    if ((holds !== undefined && holds !== "handler") || Object.keys(others).length > 0) {
      const text = 'RetryAfter takes { holds: "handler" }, or no holds, and a cause: no other option.';
      throw new PigeonholeError("invalid_argument", text);
    }
    this.when = when;
    this.holds = holds ?? "work";
  }

  /** The moment of the next attempt, in milliseconds since 1970. */
  dueAt(now: number): number {
    return Math.round(this.when instanceof Date ? Math.max(now, this.when.getTime()) : now + this.when);
  }
}
