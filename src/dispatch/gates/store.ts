import { type Clock, elapsedBy } from "../../base/clock.js";
import type { Gate, GatedWork, WorkEnd } from "../gate.js";

/** The store cannot be reached, or has failed under a run of the handler, and has not answered since. */
export class StoreGate implements Gate {
  readonly name = "store";
  readonly keeps = "in_store";
  readonly #clock: Clock;
  /** When the store has failed under a run, by handler, in the clock's elapsed time. */
  readonly #failedAt = new Map<string, number>();
  #isAway = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows({ handler }: GatedWork): boolean {
    return !this.#isAway && !this.#failedAt.has(handler);
  }

  leave({ handler }: GatedWork, ends: readonly WorkEnd[]): void {
    if (ends.some(({ settlement }) => settlement === "interrupted"))
      this.#failedAt.set(handler, elapsedBy(this.#clock));
  }

  /** It cannot be reached. */
  shut(): void {
    this.#isAway = true;
  }

  /** It has answered what was asked at that time. */
  noteAnswer(askedAt: number): void {
    this.#isAway = false;
    for (const [handler, failedAt] of this.#failedAt) if (askedAt > failedAt) this.#failedAt.delete(handler);
  }
}
