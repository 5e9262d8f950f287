import { type Clock, elapsedBy, systemClock } from "../base/clock.js";

/** A clock on which `speed` seconds pass in one. It begins at the present time. */
export function createSpeedClock(speed: number, base: Clock = systemClock): Clock {
  const startMs = base.now();
  return {
    now: () => Math.round(startMs + (base.now() - startMs) * speed),
    elapsed: () => elapsedBy(base) * speed,
    setTimer: (callback, delayMs) => base.setTimer(callback, Math.max(0, delayMs) / speed),
  };
}
