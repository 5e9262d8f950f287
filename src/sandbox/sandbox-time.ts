import { type Clock, systemClock, waitingClock } from "../base/clock.js";
import { type ManualClock, createManualClock, isManualClock } from "../base/manual-clock.js";
import { PigeonholeError } from "../base/error.js";
import { createSpeedClock } from "./speed-clock.js";

/**
 * `real`: the machine's; `{ speed: 60 }`: an hour passes in a minute; `manual`: stands still until it is advanced; or
 * your own clock, such as the `fakeClock()` that the receiver under test uses.
 */
export type SandboxClock = "real" | "manual" | { speed: number } | Clock;

/** Every clock of a sandbox. */
export interface SandboxTime {
  /** All times shown, and all waits of the service. */
  clock: Clock;
  /**
   * Timeouts and durations of single calls: the network does not run faster with the sandbox. If it is the machine's
   * clock, its timers keep the process alive, as sockets do.
   */
  network: Clock;
  /** The clock, if it is moved by hand. */
  manual: ManualClock | undefined;
  /** The same clock for awaited waits: if it is the machine's, its timers keep the process alive. */
  awaited: Clock;
  /** How many seconds pass in one. */
  speed: number;
  /** The time that the receiver uses: signatures have it, and `occurredAt` is compared with it. */
  receiver: Clock;
  /** Monotonic milliseconds, in which the time of the next attempt is given. */
  elapsed: () => number;
}

/** Makes the clocks. `startMs` is the start time of a manual clock. Throws `invalid_option`. */
export function createSandboxTime(
  choice: SandboxClock,
  { startMs, receiverTime }: { startMs: number | undefined; receiverTime: "sandbox" | "machine" | undefined },
): SandboxTime {
  const clock = resolveClock(choice, startMs ?? (receiverTime === "machine" ? systemClock.now() : undefined));
  const speed = isSpeed(choice) ? choice.speed : 1;
  const manual = isManualClock(clock) ? clock : undefined;
  const isMachine = choice === "real" || isSpeed(choice);
  return {
    clock,
    manual,
    speed,
    awaited: isMachine ? createSpeedClock(speed, waitingClock) : clock,
    network: isMachine ? waitingClock : clock,
    receiver: (receiverTime ?? (isSpeed(choice) ? "machine" : "sandbox")) === "machine" ? systemClock : clock,
    elapsed: () => manual?.elapsedMs ?? clock.now(),
  };
}

function resolveClock(choice: SandboxClock, startMs: number | undefined): Clock {
  if (choice === "real") return systemClock;
  if (choice === "manual") return createManualClock(startMs);
  if (isSpeed(choice)) {
    if (choice.speed > 0 && choice.speed <= 1_000_000) return createSpeedClock(choice.speed);
    throw new PigeonholeError(
      "invalid_option",
      `clock.speed must be above 0 and at most 1,000,000, got ${choice.speed}.`,
    );
  }
  if (typeof choice === "object" && typeof choice.now === "function") return choice;
  throw new PigeonholeError("invalid_option", 'clock must be "real", "manual", { speed } or a clock.');
}

function isSpeed(choice: SandboxClock): choice is { speed: number } {
  return typeof choice === "object" && "speed" in choice;
}
