import type { ManualClock } from "pigeonhole/sandbox";

/** Keeps time from passing while something takes no time worth speaking of and yet many turns of the event loop. */
export class HeldTime {
  readonly #world: ManualClock;
  #holders = 0;

  constructor(world: ManualClock) {
    this.#world = world;
  }

  async during<Value>(run: () => Promise<Value>): Promise<Value> {
    this.#holders += 1;
    if (this.#holders === 1) this.#hold();
    try {
      return await run();
    } finally {
      this.#holders -= 1;
    }
  }

  /** A timer that is due at once, again and again, is before all others. */
  #hold(): void {
    this.#world.setTimer(() => {
      if (this.#holders > 0) this.#hold();
    }, 0);
  }
}
