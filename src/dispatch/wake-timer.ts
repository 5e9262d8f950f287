import type { Clock, Timer } from "../base/clock.js";

/** Calls back at the earliest of the times it was set to. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | undefined;
  #dueAt = Infinity;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** In milliseconds since 1970. */
  set(dueAt: number): void {
    if (dueAt >= this.#dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = this.#clock.setTimer(() => {
      this.#dueAt = Infinity;
      this.#wake();
    }, dueAt - this.#clock.now());
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
