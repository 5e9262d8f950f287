import { type Clock, elapsedBy } from "../base/clock.js";

/** A clock that measures by how much the wall clock was set back. */
export interface RememberingClock extends Clock {
  /**
   * Milliseconds by which the time now is before the latest time returned; 0 when the clock was not set back. Forgets
   * the times returned before.
   */
  takeSetBackMs(): number;
}

/** A clock that remembers the latest time it returned. */
export function createRememberingClock(clock: Clock): RememberingClock {
  let latest = -Infinity;
  return {
    now() {
      const now = clock.now();
      if (now > latest) latest = now;
      return now;
    },
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    elapsed: () => elapsedBy(clock),
    takeSetBackMs() {
      const now = clock.now();
      const setBackMs = Math.max(0, latest - now);
      latest = now;
      return setBackMs;
    },
  };
}
