import { type Clock, type Timer, elapsedBy } from "./clock.js";

/** Something that may take a limited time. */
export interface Expiring {
  /** Called once when the time is over, unless `end` came before. */
  expire(): void;
}

/**
 * The same time limit for any number of things under way, kept by one timer: all have the same limit, so they expire in the order in which
 * they began. No timer is left while nothing is under way.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** When each expires, by the time that has passed; the first expires first. */
  readonly #underWay = new Map<Expiring, number>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  begin(thing: Expiring): void {
    if (this.#underWay.size === 0) this.#wait(this.#limitMs);
    this.#underWay.set(thing, elapsedBy(this.#clock) + this.#limitMs);
  }

  end(thing: Expiring): void {
    if (!this.#underWay.delete(thing) || this.#underWay.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#expire(), delayMs);
  }

  #expire(): void {
    this.#timer = undefined;
    const now = elapsedBy(this.#clock);
    for (const [thing, expiresAt] of this.#underWay) {
      if (expiresAt > now) {
        // One that began just now, with nothing else under way, has its timer already.
        if (this.#timer === undefined) this.#wait(Math.ceil(expiresAt - now));
        return;
      }
      this.#underWay.delete(thing);
      thing.expire();
    }
  }
}
