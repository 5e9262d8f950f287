import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /**
   * Lets `ms` milliseconds pass: timers that come due fire in order, each at its own time, also those set on the way.
   * Before the first and after each, promises get to run. What waits for sockets, disks or threads is not waited for.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, as a correction by NTP does. Timers keep what they have left and none fires. */
  set(nowMs: number): void;
  /** Timers that have neither fired nor been cancelled. */
  readonly pendingTimers: number;
}

interface FakeTimer {
  dueMs: number;
  callback: () => void;
}

/** Turns of the event loop given to promises between two timers; a chain of a few `setImmediate` gets through. */
const TURNS = 4;

/**
 * A clock for tests.
 *
 * @param startMs Wall-clock time to begin at, in milliseconds since 1970.
 * @default startMs 2026-01-01T00:00:00Z
 */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsedMs = 0;
  // Timers go by elapsed time, so that a jump of the wall clock does not touch them.
  let wallOffsetMs = startMs;
  const timers = new Set<FakeTimer>();

  return {
    now: () => wallOffsetMs + elapsedMs,
    setTimer(callback, delayMs) {
      const timer = { dueMs: elapsedMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new PigeonholeError("invalid_argument", `A clock cannot advance by ${ms} ms.`);
      const untilMs = elapsedMs + ms;
      await runPromises();
      for (let next = earliest(timers); next !== undefined && next.dueMs <= untilMs; next = earliest(timers)) {
        timers.delete(next);
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        next.callback();
        await runPromises();
      }
      elapsedMs = Math.max(elapsedMs, untilMs);
    },
    set(nowMs) {
      wallOffsetMs = nowMs - elapsedMs;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

/** Of timers due together, the one set first. */
function earliest(timers: Set<FakeTimer>): FakeTimer | undefined {
  let found: FakeTimer | undefined;
  for (const timer of timers) {
    if (found === undefined || timer.dueMs < found.dueMs) found = timer;
  }
  return found;
}

async function runPromises(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
}
