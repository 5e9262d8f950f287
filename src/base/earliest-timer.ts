import { type Clock, type Timer, elapsedBy } from "./clock.js";

/** One timer for many times: it calls back at the earliest of them, and then at the earliest of those given since. */
export class EarliestTimer {
  readonly #clock: Clock;
  readonly #callback: () => void;
  #timer: Timer | undefined;
  #endsAt = Infinity;

  constructor(clock: Clock, callback: () => void) {
    this.#clock = clock;
    this.#callback = callback;
  }

  /** Calls back at that time, in the clock's elapsed time, or earlier. */
  setTo(time: number): void {
    if (time >= this.#endsAt) return;
    this.#timer?.cancel();
    this.#endsAt = time;
    this.#timer = this.#clock.setTimer(
      () => {
        this.#endsAt = Infinity;
        this.#callback();
      },
      time - elapsedBy(this.#clock),
    );
  }

  /** Calls back no more. */
  close(): void {
    this.#timer?.cancel();
    this.#endsAt = -Infinity;
  }
}
