import { setImmediate } from "node:timers/promises";
import type { Clock } from "./clock.js";
import { PigeonholeError } from "./error.js";

/** A clock that moves only when it is told to. */
export interface ManualClock extends Clock {
  /**
   * Advances the clock by `ms` milliseconds. Timers that become due fire in order, each at its own time, also those set
   * meanwhile. Promises run before the first timer and after each one. Sockets, disks and threads are not waited for.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, as a correction by NTP does. Timers keep what they have left and none fires. */
  set(nowMs: number): void;
  /** Timers that have neither fired nor been cancelled. */
  readonly pendingTimers: number;
  /** Milliseconds that have passed since the start; jumps of the wall clock do not count. */
  readonly elapsedMs: number;
  /** Milliseconds until the next timer fires, 0 when one is due; undefined when there is none. */
  readonly nextTimerInMs: number | undefined;
}

interface ManualTimer {
  dueMs: number;
  callback: () => void;
}

/** Turns of the event loop given to promises between two timers: enough for a chain of a few `setImmediate`. */
const TURNS = 4;

/**
 * A clock that is moved by hand.
 *
 * @param startMs Wall-clock time to begin at, in milliseconds since 1970.
 * @default startMs 2026-01-01T00:00:00Z
 */
export function createManualClock(startMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  return createClockThatRests(runPromises, startMs);
}

/** The same, which waits in its own way before the first timer and after each one. */
export function createClockThatRests(rest: () => Promise<void>, startMs: number): ManualClock {
  let elapsedMs = 0;
  // Timers go by elapsed time, so that a jump of the wall clock does not touch them.
  let wallOffsetMs = startMs;
  const timers = new Set<ManualTimer>();

  return {
    now: () => wallOffsetMs + elapsedMs,
    elapsed: () => elapsedMs,
    setTimer(callback, delayMs) {
      const timer = { dueMs: elapsedMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new PigeonholeError("invalid_argument", `A clock cannot advance by ${ms} ms.`);
      const untilMs = elapsedMs + ms;
      await rest();
      for (let next = earliest(timers); next !== undefined && next.dueMs <= untilMs; next = earliest(timers)) {
        timers.delete(next);
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        next.callback();
        await rest();
      }
      elapsedMs = Math.max(elapsedMs, untilMs);
    },
    set(nowMs) {
      wallOffsetMs = nowMs - elapsedMs;
    },
    get pendingTimers() {
      return timers.size;
    },
    get elapsedMs() {
      return elapsedMs;
    },
    get nextTimerInMs() {
      const next = earliest(timers);
      return next === undefined ? undefined : Math.max(0, next.dueMs - elapsedMs);
    },
  };
}

/** Of timers due together, the one set first. */
function earliest(timers: Set<ManualTimer>): ManualTimer | undefined {
  let found: ManualTimer | undefined;
  for (const timer of timers) {
    if (found === undefined || timer.dueMs < found.dueMs) found = timer;
  }
  return found;
}

async function runPromises(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
}
