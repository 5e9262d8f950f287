import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";

/** The store is tried no earlier once it has failed under a run, and later each time that it does so again. */
const WAITS: Backoff = { initialMs: SECOND, factor: 2, maxMs: 30 * SECOND, jitter: 0.2 };

/** Whether the store of a handler can be reached, as far as is known. */
export class StoreAbsence {
  readonly #clock: Clock;
  #isAway = false;
  /** No earlier answer counts, in the clock's elapsed time: what answers may be another way to the store. */
  #until = 0;
  /** How often in a row the store has failed under a run after it had answered. */
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True until the store answers. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** It cannot be reached. */
  begin(): void {
    this.#isAway = true;
  }

  /** It has failed under a run. Of runs that end together, the first counts. */
  noteFailure(): void {
    if (this.#isAway) return;
    this.#failures += 1;
    this.#until = elapsedBy(this.#clock) + backoffDelay(WAITS, this.#failures, Math.random);
    this.begin();
  }

  /** A run has ended and was settled. */
  noteSettled(): void {
    this.#failures = 0;
  }

  /** It has answered what was asked at that time. True when it was away until then. */
  noteAnswer(askedAt: number): boolean {
    if (!this.#isAway || askedAt < this.#until) return false;
    this.#isAway = false;
    return true;
  }
}
