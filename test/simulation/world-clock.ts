import { setImmediate } from "node:timers/promises";
import type { Timer } from "#pigeonhole/base/clock.js";
import type { ManualClock } from "#pigeonhole/base/manual-clock.js";

/** Turns of the event loop between two timers: enough for what takes no call of the store. */
const TURNS = 2;
/** Many times what a world needs. One with more never ends, however fast the machine is. */
const MAX_TURNS = 1_000_000;

/** Real time without a single turn. */
const STILL_MS = 15_000;

interface WorldTimer {
  dueMs: number;
  callback: () => void;
}

/** The time of a seed's world. It moves from timer to timer, and stands still while something holds it. */
export class WorldClock implements ManualClock {
  readonly #startMs = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<WorldTimer>();
  #elapsedMs = 0;
  #jumpMs = 0;
  #holders = 0;
  #turns = 0;
  readonly #mostTurns: number;

  constructor(mostTurns = MAX_TURNS) {
    this.#mostTurns = mostTurns;
  }

  /** How far the world has come, in turns of the event loop. */
  get turns(): number {
    return this.#turns;
  }

  /** Keeps time from passing while something takes no time worth speaking of and yet many turns of the event loop. */
  async hold<Value>(run: () => Promise<Value>): Promise<Value> {
    this.#holders += 1;
    try {
      return await run();
    } finally {
      this.#holders -= 1;
    }
  }

  now(): number {
    return this.#startMs + this.#elapsedMs + this.#jumpMs;
  }

  elapsed(): number {
    return this.#elapsedMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  set(nowMs: number): void {
    this.#jumpMs += nowMs - this.now();
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  get nextTimerInMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : Math.max(0, next.dueMs - this.#elapsedMs);
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await this.#rest();
    for (let next = this.#next(); next !== undefined && next.dueMs <= untilMs; next = this.#next()) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.callback();
      await this.#rest();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
  }

  /** Of timers due together, the one set first. */
  #next(): WorldTimer | undefined {
    let found: WorldTimer | undefined;
    for (const timer of this.#timers) if (found === undefined || timer.dueMs < found.dueMs) found = timer;
    return found;
  }

  /** Lets promises run, and what holds the time come to its end. */
  async #rest(): Promise<void> {
    for (let left = TURNS; left > 0; left -= 1) {
      await setImmediate();
      this.#turns += 1;
      if (this.#turns > this.#mostTurns) throw new Error(`The world still goes on after ${this.#mostTurns} turns.`);
      if (this.#holders > 0) left = TURNS + 1;
    }
  }
}

/** `still` rejects when the world waits for what never comes; on a busy machine it is slow, and yet goes on. */
export function watchProgress(clock: WorldClock): { still: Promise<never>; end: () => void } {
  let interval: NodeJS.Timeout | undefined;
  const still = new Promise<never>((_, reject) => {
    let seen = -1;
    interval = setInterval(() => {
      if (clock.turns === seen) reject(new Error(`The world stands still at ${clock.elapsedMs} ms.`));
      seen = clock.turns;
    }, STILL_MS);
  });
  return { still, end: () => clearInterval(interval) };
}
