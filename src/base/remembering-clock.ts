import type { Clock } from "./clock.js";

/** A clock that knows by how much it was set back. */
export interface RememberingClock extends Clock {
  /** Milliseconds from the latest time it has told down to now, 0 when it never went back; what was told before is forgotten. */
  takeSetBackMs(): number;
}

/** The clock, remembering the latest time that somebody was told. */
export function createRememberingClock(clock: Clock): RememberingClock {
  let latest = -Infinity;
  return {
    now() {
      const now = clock.now();
      if (now > latest) latest = now;
      return now;
    },
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    takeSetBackMs() {
      const now = clock.now();
      const setBackMs = Math.max(0, latest - now);
      latest = now;
      return setBackMs;
    },
  };
}
