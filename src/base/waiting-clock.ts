import type { Clock } from "./clock.js";

/**
 * The machine's clock for a wait that somebody awaits: unlike those of `systemClock`, its timers keep the process alive, so
 * that a script does not end in the middle of a call. For delays below 24 days.
 */
export const waitingClock: Clock = {
  now: () => Date.now(),
  setTimer(callback, delayMs) {
    const timeout = setTimeout(callback, Math.max(0, delayMs));
    return { cancel: () => clearTimeout(timeout) };
  },
};
