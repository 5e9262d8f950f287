import { type Clock, type Timer, elapsedBy } from "./clock.js";

/** An operation with a time limit. */
export interface Expiring {
  /** Called once when the time is over, unless `end` came before. */
  expire(): void;
}

/**
 * One timer for any number of running operations. All have the same time limit, so they expire in the order in which
 * they began. An operation that ends in the turn of the event loop in which it began needs no timer.
 */
export class Deadlines<Thing extends Expiring = Expiring> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** When each operation expires, in the clock's elapsed time. The first entry expires first. */
  readonly #underWay = new Map<Thing, number>();
  #timer: Timer | undefined;
  #waitsForTurn = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  get underWay(): Iterable<Thing> {
    return this.#underWay.keys();
  }

  begin(thing: Thing): void {
    this.#underWay.set(thing, elapsedBy(this.#clock) + this.#limitMs);
    if (this.#timer !== undefined || this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    setImmediate(() => this.#setTimer());
  }

  end(thing: Thing): void {
    if (!this.#underWay.delete(thing) || this.#underWay.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #setTimer(): void {
    this.#waitsForTurn = false;
    if (this.#timer !== undefined) return;
    const [first] = this.#underWay.values();
    if (first === undefined) return;
    this.#timer = this.#clock.setTimer(() => this.#expire(), Math.ceil(first - elapsedBy(this.#clock)));
  }

  #expire(): void {
    const now = elapsedBy(this.#clock);
    for (const [thing, expiresAt] of this.#underWay) {
      if (expiresAt > now) break;
      this.#underWay.delete(thing);
      thing.expire();
    }
    this.#timer = undefined;
    this.#setTimer();
  }
}
