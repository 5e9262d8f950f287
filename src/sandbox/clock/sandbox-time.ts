import { type Clock, elapsedBy, systemClock, waitingClock } from "../../base/clock.js";
import { createManualClock } from "../../base/manual-clock.js";
import { DAY } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { type AdvanceableClock, createAdvanceableClock, isAdvanceable } from "./advanceable-clock.js";

/** Longest delay of a fault, in milliseconds. */
export const MAX_DELAY_MS = 365 * DAY;

/** Latest time of a clock: the last moment of a JavaScript date, minus the longest delay that is planned from there. */
export const LATEST_TIME = 8.64e15 - 2 * MAX_DELAY_MS;

/**
 * `real`: the machine's; `advanceable`: runs like the machine's, and `advance` moves it ahead; `{ speed: 60 }`: an hour
 * passes in a minute; `manual`: stands still until it is advanced; or your own clock, such as the `fakeClock()` that
 * the receiver under test uses.
 */
export type SandboxClock = "real" | "advanceable" | "manual" | { speed: number } | Clock;

/** Every clock of a sandbox. */
export interface SandboxTime {
  /** All times shown, and all waits of the service. */
  clock: Clock;
  /**
   * Timeouts and durations of single calls: the network does not run faster with the sandbox. If it is the machine's
   * clock, its timers keep the process alive, as sockets do.
   */
  network: Clock;
  /** The clock, if `advance` can move it. */
  advanceable: AdvanceableClock | undefined;
  /** True for a clock that stands still between advances. */
  isManual: boolean;
  /** The same clock for awaited waits: if it is the machine's, its timers keep the process alive. */
  awaited: Clock;
  /** How many seconds pass in one. */
  speed: number;
  /** The time that the receiver uses: signatures have it, and `occurredAt` is compared with it. */
  receiver: Clock;
  /** Monotonic milliseconds, in which the time of the next attempt is given. */
  elapsed: () => number;
}

/** Makes the clocks. A manual one begins now where the receiver has the machine's. Throws `invalid_option`. */
export function createSandboxTime(choice: SandboxClock, receiverTime: "sandbox" | "machine" | undefined): SandboxTime {
  const clock = resolveClock(choice, receiverTime === "machine" ? systemClock.now() : undefined);
  const speed = isSpeed(choice) ? choice.speed : 1;
  const advanceable = isAdvanceable(clock) ? clock : undefined;
  const isMachine = choice === "real" || choice === "advanceable" || isSpeed(choice);
  const receiverByDefault = choice === "advanceable" || isSpeed(choice) ? "machine" : "sandbox";
  return {
    clock,
    advanceable,
    isManual: advanceable !== undefined && choice !== "advanceable",
    speed,
    awaited: isMachine ? createSpeedClock(speed, waitingClock) : clock,
    network: isMachine ? waitingClock : clock,
    receiver: (receiverTime ?? receiverByDefault) === "machine" ? systemClock : clock,
    elapsed: () => advanceable?.elapsedMs ?? clock.now(),
  };
}

/** The time of a clock as the API writes it: ISO 8601 in UTC. */
export function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

function resolveClock(choice: SandboxClock, startMs: number | undefined): Clock {
  if (choice === "real") return systemClock;
  if (choice === "advanceable") return createAdvanceableClock();
  if (choice === "manual") return createManualClock(startMs);
  if (isSpeed(choice)) {
    if (choice.speed > 0 && choice.speed <= 1_000_000) return createSpeedClock(choice.speed);
    throw new PigeonholeError(
      "invalid_option",
      `clock.speed must be above 0 and at most 1,000,000, got ${choice.speed}.`,
    );
  }
  if (typeof choice === "object" && typeof choice.now === "function") return choice;
  throw new PigeonholeError("invalid_option", 'clock must be "real", "advanceable", "manual", { speed } or a clock.');
}

function isSpeed(choice: SandboxClock): choice is { speed: number } {
  return typeof choice === "object" && "speed" in choice;
}

/** A clock on which `speed` seconds pass in one. It begins at the present time. */
function createSpeedClock(speed: number, base: Clock = systemClock): Clock {
  const startMs = base.now();
  return {
    now: () => Math.round(startMs + (base.now() - startMs) * speed),
    elapsed: () => elapsedBy(base) * speed,
    setTimer: (callback, delayMs) => base.setTimer(callback, Math.max(0, delayMs) / speed),
  };
}
