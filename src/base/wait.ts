import type { Clock } from "./clock.js";

/** Resolves after `ms` milliseconds of the clock; rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimer(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

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

/**
 * Settles as `promise` does, or rejects with the signal's reason as soon as it is aborted; the promise itself
 * continues.
 */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
