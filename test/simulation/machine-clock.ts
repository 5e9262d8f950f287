import type { Clock, Timer } from "#pigeonhole/base/clock.js";
import { HOUR, SECOND } from "#pigeonhole/base/duration.js";
import type { ManualClock } from "#pigeonhole/base/manual-clock.js";

/** How long after something happened timers fire on time. */
const AWAKE_MS = 2 * SECOND;
/** Later they fire at the next multiple of this, as on a machine that sleeps while nothing happens. */
export const SLEEP_MS = HOUR;

interface WaitingTimer {
  dueMs: number;
  callback: () => void;
}

/**
 * The clock of the machine that the receiver runs on. Its wall clock may be off. While nothing happens its timers are
 * late, which the receiver has to bear anyway; without that a day of its looks into the store, one each second, would
 * take seconds.
 */
export class MachineClock implements Clock {
  readonly #world: ManualClock;
  readonly #skewMs: () => number;
  readonly #timers = new Set<WaitingTimer>();
  #armed: Timer | undefined;
  #awakeUntilMs = 0;
  #isDead = false;
  #isFrozen = false;

  /** `skewMs`: how far the wall clock is ahead of the world's. */
  constructor(world: ManualClock, skewMs: () => number) {
    this.#world = world;
    this.#skewMs = skewMs;
    this.wake();
  }

  now(): number {
    return this.#world.now() + this.#skewMs();
  }

  elapsed(): number {
    return this.#world.elapsedMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer = { dueMs: this.#world.elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    this.#arm();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Something happens: timers fire on time again for a while. */
  wake(forMs = AWAKE_MS): void {
    this.#awakeUntilMs = Math.max(this.#awakeUntilMs, this.#world.elapsedMs + forMs);
    this.#arm();
  }

  /** The process stands still: its timers fire when it goes on. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#arm();
  }

  /** No timer fires any more. */
  die(): void {
    this.#isDead = true;
    this.#timers.clear();
    this.#armed?.cancel();
  }

  #arm(): void {
    this.#armed?.cancel();
    if (this.#isDead || this.#isFrozen || this.#timers.size === 0) return;
    const dueMs = Math.min(...[...this.#timers].map((timer) => timer.dueMs));
    const firesAtMs = dueMs <= this.#awakeUntilMs ? dueMs : Math.ceil(dueMs / SLEEP_MS) * SLEEP_MS;
    this.#armed = this.#world.setTimer(() => this.#fire(), firesAtMs - this.#world.elapsedMs);
  }

  /** One timer at a time, so that promises run between two. */
  #fire(): void {
    for (const timer of [...this.#timers].toSorted((a, b) => a.dueMs - b.dueMs)) {
      if (timer.dueMs > this.#world.elapsedMs) break;
      this.#timers.delete(timer);
      timer.callback();
      break;
    }
    this.#arm();
  }
}
