import { type Clock, createMachineClock } from "./clock.js";

/**
 * The machine's clock for waits inside a call that is awaited. Unlike those of `systemClock`, its timers keep the
 * process alive, so that a script does not end in the middle of a call.
 */
export const waitingClock: Clock = createMachineClock({ keepsAlive: true });
