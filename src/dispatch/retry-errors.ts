import { PigeonholeError } from "../base/error.js";

/** Thrown by a handler to say that no further attempt can help: the work is dead at once. */
export class DoNotRetry extends Error {
  override readonly name = "DoNotRetry";
}

/** The last moment of a JavaScript date; a later one could not be kept. */
const LATEST_MS = 8.64e15;

/** Thrown by a handler to choose the time of the next attempt. Counts as an attempt like any other failure. */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";
  /** A wait in milliseconds, or a moment. */
  readonly when: number | Date;

  /** Throws `invalid_argument` for a negative, unreadable or absurdly late time. */
  constructor(message: string, when: number | Date, options?: ErrorOptions) {
    super(message, options);
    const value = when instanceof Date ? when.getTime() : when;
    if (!Number.isFinite(value) || value < 0 || value > LATEST_MS) {
      throw new PigeonholeError(
        "invalid_argument",
        "RetryAfter takes milliseconds from 0 to 8.64e15, or a valid Date.",
      );
    }
    this.when = when;
  }

  /** The moment of the next attempt, in milliseconds since 1970. */
  dueAt(now: number): number {
    return Math.round(this.when instanceof Date ? Math.max(now, this.when.getTime()) : now + this.when);
  }
}
