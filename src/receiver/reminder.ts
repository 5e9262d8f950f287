import type { Clock } from "../base/clock.js";

/** Says when a count is to be reported: when it has grown, and repeatedly while it is not 0. */
export class Reminder {
  readonly #clock: Clock;
  readonly #againMs: number;
  #count = 0;
  #reportedAt = 0;

  constructor(clock: Clock, againMs: number) {
    this.#clock = clock;
    this.#againMs = againMs;
  }

  isDue(count: number): boolean {
    const now = this.#clock.now();
    const hasGrown = count > this.#count;
    this.#count = count;
    // A time in the future is from a clock that has since been set back.
    const isAgain = now < this.#reportedAt || now - this.#reportedAt >= this.#againMs;
    if (count === 0 || !(hasGrown || isAgain)) return false;
    this.#reportedAt = now;
    return true;
  }
}
