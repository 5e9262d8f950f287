import { type Clock, elapsedBy } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { type Backoff, backoffDelay } from "../../base/retry-wait.js";
import type { Gate, GatedWork } from "../gate.js";
import type { RunResult } from "../runner.js";

/** The store is tried no earlier once it has failed under a run, and later each time that it does so again. */
const WAITS: Backoff = { initialMs: SECOND, factor: 2, maxMs: 30 * SECOND, jitter: 0.2 };

/** How the store has failed under the runs of a handler. */
interface Failures {
  inARow: number;
  /** No earlier answer counts, in the clock's elapsed time: what answers may be another way to the store. */
  until: number;
  isAway: boolean;
}

/** The store cannot be reached, or has failed under a run of the handler, and has not answered since. */
export class StoreGate implements Gate {
  readonly name = "store";
  readonly keeps = "in_store";
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();
  #isAway = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows({ handler }: GatedWork): boolean {
    return !this.#isAway && this.#failures.get(handler)?.isAway !== true;
  }

  leave({ handler }: GatedWork, result: RunResult | undefined): void {
    if (result?.settlement !== "interrupted") {
      if (result !== undefined) this.#failures.delete(handler);
    } else if (this.allows({ handler })) {
      // Of runs that end together, the first counts.
      const inARow = (this.#failures.get(handler)?.inARow ?? 0) + 1;
      const until = elapsedBy(this.#clock) + backoffDelay(WAITS, inARow, Math.random);
      this.#failures.set(handler, { inARow, until, isAway: true });
    }
  }

  /** It cannot be reached. */
  shut(): void {
    this.#isAway = true;
  }

  /** It has answered what was asked at that time. */
  noteAnswer(askedAt: number): void {
    this.#isAway = false;
    for (const failures of this.#failures.values()) if (askedAt >= failures.until) failures.isAway = false;
  }
}
