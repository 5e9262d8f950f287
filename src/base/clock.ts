/** A running timer that can be cancelled. */
export interface Timer {
  /** Stops the timer; its callback is not called. Does nothing once it has been called. */
  cancel(): void;
}

/** The source of all times and waits, so that a test can control them. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  now(): number;
  /** Calls back once after `delayMs` milliseconds (at least 0). Does not keep the process alive. */
  setTimer(callback: () => void, delayMs: number): Timer;
  /**
   * Milliseconds since some fixed moment. Never goes back and never jumps, even when the wall clock is set.
   * @default the wall clock
   */
  elapsed?(): number;
}

/** Time for measuring how long something takes. */
export function elapsedBy(clock: Clock): number {
  return clock.elapsed === undefined ? clock.now() : clock.elapsed();
}

/**
 * Milliseconds. Node's own timers fire at once past this delay, with a warning, so a clock makes a longer wait of
 * several.
 */
export const MAX_NODE_TIMER = 2 ** 31 - 1;

/**
 * The machine's clock, for waits of any length. `keepsAlive`: the process does not end while one of its timers runs.
 */
export function createMachineClock({ keepsAlive }: { keepsAlive: boolean }): Clock {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    setTimer(callback, delayMs) {
      let timeout: NodeJS.Timeout;
      const arm = (leftMs: number): void => {
        const step = Math.min(leftMs, MAX_NODE_TIMER);
        timeout = setTimeout(() => (leftMs > step ? arm(leftMs - step) : callback()), step);
        if (!keepsAlive) timeout.unref();
      };
      arm(Math.max(0, delayMs));
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}

/** The machine's clock. */
export const systemClock: Clock = createMachineClock({ keepsAlive: false });

/**
 * The machine's clock for waits inside a call that is awaited. Unlike those of `systemClock`, its timers keep the
 * process alive, so that a script does not end in the middle of a call.
 */
export const waitingClock: Clock = createMachineClock({ keepsAlive: true });
