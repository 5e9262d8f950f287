import { type Clock, type Timer, elapsedBy } from "./clock.js";

/** An operation with a time limit. */
export interface Expiring {
  /** Called once when the time is over, unless `end` came before. */
  expire(): void;
}

/** An operation that was begun. */
export interface Deadline<Thing extends Expiring = Expiring> {
  /** Undefined once it has ended or expired, so that nothing here keeps it in memory. */
  thing: Thing | undefined;
  /** In the clock's elapsed time. */
  readonly expiresAt: number;
}

/** So many ended operations may stay in the list, and as many again as are running. */
const MAX_ENDED = 64;

/**
 * One timer for any number of running operations. All have the same time limit, so they expire in the order in which
 * they began. An operation that ends in the turn of the event loop in which it began needs no timer.
 */
export class Deadlines<Thing extends Expiring = Expiring> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /**
   * The first one expires first. Not a Map: as it grows and shrinks, V8 replaces its table again and again, and each
   * old table refers to the next one. Once the first of them is in old memory, all that was in any of them stays in
   * memory until the next full collection.
   */
  #begun: Deadline<Thing>[] = [];
  #running = 0;
  #timer: Timer | undefined;
  #waitsForTurn = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  get underWay(): Thing[] {
    return this.#begun.flatMap(({ thing }) => thing ?? []);
  }

  /** The running operations, the one that began first at the begin, and for how many milliseconds each has run. */
  get running(): { thing: Thing; forMs: number }[] {
    return this.#begun.flatMap((deadline) => {
      const { thing } = deadline;
      return thing === undefined ? [] : [{ thing, forMs: this.elapsedOf(deadline) }];
    });
  }

  /** `begunAt`: when it began, in the clock's elapsed time, not before the last one did. @default now */
  begin(thing: Thing, begunAt = elapsedBy(this.#clock)): Deadline<Thing> {
    const deadline: Deadline<Thing> = { thing, expiresAt: begunAt + this.#limitMs };
    this.#begun.push(deadline);
    this.#running += 1;
    if (this.#timer === undefined && !this.#waitsForTurn) {
      this.#waitsForTurn = true;
      setImmediate(() => this.#setTimer());
    }
    return deadline;
  }

  end(deadline: Deadline<Thing>): void {
    if (deadline.thing === undefined) return;
    deadline.thing = undefined;
    this.#running -= 1;
    if (this.#begun.length > 2 * this.#running + MAX_ENDED) {
      this.#begun = this.#begun.filter(({ thing }) => thing !== undefined);
    }
    if (this.#running > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Milliseconds since the operation began. */
  elapsedOf({ expiresAt }: Deadline<Thing>): number {
    return elapsedBy(this.#clock) - (expiresAt - this.#limitMs);
  }

  #setTimer(): void {
    this.#waitsForTurn = false;
    if (this.#timer !== undefined) return;
    const first = this.#begun.find(({ thing }) => thing !== undefined);
    if (first === undefined) return;
    const delayMs = Math.ceil(first.expiresAt - elapsedBy(this.#clock));
    this.#timer = this.#clock.setTimer(() => this.#expire(), delayMs);
  }

  #expire(): void {
    const now = elapsedBy(this.#clock);
    for (const deadline of this.#begun) {
      if (deadline.expiresAt > now) break;
      const { thing } = deadline;
      this.end(deadline);
      thing?.expire();
    }
    this.#timer = undefined;
    this.#setTimer();
  }
}
