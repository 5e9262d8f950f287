import { type Clock, elapsedBy, systemClock, type Timer } from "../../base/clock.js";
import type { ManualClock } from "../../base/manual-clock.js";

/** A clock that `sandbox.advance` can move. */
export type AdvanceableClock = Clock & Pick<ManualClock, "advance" | "elapsedMs" | "nextTimerInMs">;

interface WaitingTimer {
  dueMs: number;
  callback: () => void;
  /** The timer of the machine behind it; undefined before it is started. */
  base: Timer | undefined;
}

/** A clock that runs like the machine's and can also be advanced. */
export function createAdvanceableClock(base: Clock = systemClock): AdvanceableClock {
  const startMs = elapsedBy(base);
  const timers = new Set<WaitingTimer>();
  let aheadMs = 0;

  // Whole milliseconds, so that sums of them are exact.
  const elapsed = (): number => Math.round(elapsedBy(base) - startMs) + aheadMs;

  function start(timer: WaitingTimer): void {
    timer.base?.cancel();
    timer.base = base.setTimer(() => fire(timer), Math.max(0, timer.dueMs - elapsed()));
  }

  function cancel(timer: WaitingTimer): void {
    timer.base?.cancel();
    timers.delete(timer);
  }

  function fire(timer: WaitingTimer): void {
    // One that fires earlier may have cancelled it.
    if (!timers.has(timer)) return;
    cancel(timer);
    timer.callback();
  }

  return {
    now: () => base.now() + aheadMs,
    elapsed,
    setTimer(callback, delayMs) {
      const timer: WaitingTimer = { dueMs: elapsed() + Math.ceil(Math.max(0, delayMs)), callback, base: undefined };
      timers.add(timer);
      start(timer);
      return { cancel: () => cancel(timer) };
    },
    advance(ms) {
      aheadMs += Math.ceil(ms);
      const byTime = [...timers].toSorted((a, b) => a.dueMs - b.dueMs);
      for (const timer of byTime) {
        if (timer.dueMs <= elapsed()) fire(timer);
        else start(timer);
      }
      return Promise.resolve();
    },
    get elapsedMs() {
      return elapsed();
    },
    get nextTimerInMs() {
      if (timers.size === 0) return undefined;
      const next = [...timers].reduce((soonest, { dueMs }) => Math.min(soonest, dueMs), Infinity);
      return Math.max(0, next - elapsed());
    },
  };
}

/** True for a clock that can be advanced. */
export function isAdvanceable(clock: Clock): clock is AdvanceableClock {
  return "advance" in clock && "nextTimerInMs" in clock;
}
