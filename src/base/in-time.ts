import type { Clock } from "./clock.js";

/** The result in place of a promise that did not settle in time. */
export const LATE = Symbol("late");

/**
 * Settles as `promise` does, or resolves with {@link LATE} after `ms` milliseconds of the clock; the promise itself
 * continues.
 */
export function inTime<Value>(promise: Promise<Value>, clock: Clock, ms: number): Promise<Value | typeof LATE> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => resolve(LATE), ms);
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}
