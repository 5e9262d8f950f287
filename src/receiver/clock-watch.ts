import { type Clock, type Timer, elapsedBy, waitingClock } from "../base/clock.js";
import { DAY, HOUR, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import { inTime } from "../base/wait.js";
import type { Store } from "../store/store.js";
import type { Alarms } from "./alarms.js";

const TICK_MS = 10 * SECOND;
/** A clock that was set back by less does no harm. */
const MAX_NOISE_MS = SECOND;
/** Leases that were given while the clock was ahead end after this, unless their holder renews them. */
const LEASE_MS = MINUTE;
/** A start goes on after this time, and waits are corrected meanwhile: there may be millions of them. */
const RESTARTED_WITHIN_MS = 5 * SECOND;
/** A clock that is further ahead of the time that has passed may be wrong. */
const MAX_AHEAD_MS = DAY;

interface ClockWatchDeps {
  store: Store<unknown>;
  clock: RememberingClock;
  logger: Logger;
  alarms: Alarms;
}

/** The times by which the age of stored data is measured. */
export interface TrustedTimes {
  now: number;
  /** Not later than `now`, nor than the newest time in a delivery; 0 when there was none. */
  byDeliveries: number;
  /** Not later than `now`, nor than the newest time in an answer of the API; 0 when there was none. */
  byApi: number;
}

/**
 * Knows how late it is at least, whatever this machine's clock shows: what is dropped for its age cannot be restored.
 * The time goes on while a receiver runs, and to the newest time in a delivery or in an answer of the API, never ahead
 * of the clock. When the clock is set back, and at the start, waits that its earlier time made too long are corrected.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps;
  #timer: Timer | undefined;
  #delivery = 0;
  #api = 0;
  /** The newest time in a delivery that the next process knows of if this one is killed. */
  #keptDelivery = 0;
  /** The trusted time, and the clock's elapsed time then; undefined before the start. */
  #trusted: { at: number; elapsed: number } | undefined;

  /** The clock was set back since waits were last corrected. */
  #areWaitsWrong = false;
  #isRestarting = false;

  constructor(deps: ClockWatchDeps) {
    this.#deps = deps;
  }

  /** Continues with the times that the previous process kept. */
  async start(): Promise<void> {
    const { store, clock } = this.#deps;
    const known = await store.noteTimes({});
    this.#trusted = { at: known.clock ?? clock.now(), elapsed: elapsedBy(clock) };
    // An inbox that no receiver has used learns when it was begun.
    if (known.clock === undefined) await this.#keep();
    await inTime(this.#restartWaits(), waitingClock, RESTARTED_WITHIN_MS);
    this.#timer?.cancel();
    this.#tick();
  }

  /** Keeps the known times for the next process. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    if (this.#trusted !== undefined) await this.#keepOrTell();
  }

  async #keepOrTell(): Promise<void> {
    await this.#keep().catch((error: unknown) => {
      this.#deps.logger.warn(errorFields(error, true), "times_not_kept");
    });
  }

  /**
   * Takes the time of a genuine delivery that this package did not sign. Not from its signature alone: a replay is
   * signed with the clock of its sender, but keeps `createdAt`. Test deliveries do not count either: other tools make
   * them too, with the clock of their machine.
   */
  sawDelivery({ createdAt, test }: { createdAt: string; test: boolean }, signedAt: number): void {
    if (!test) this.#delivery = newest(this.#delivery, Math.min(Date.parse(createdAt), signedAt));
  }

  /** Takes the time at which the API stored an event, from its answer. */
  sawApi(createdAt: string): void {
    this.#api = newest(this.#api, Date.parse(createdAt));
  }

  /** The times by which data may be dropped; raises an alarm while the clock shows much more. */
  async trustedTimes(): Promise<TrustedTimes> {
    const { clock, alarms } = this.#deps;
    const now = await this.#keep();
    const aheadMs = clock.now() - now;
    if (aheadMs > MAX_AHEAD_MS) alarms.raise({ kind: "clock_skew", skewSeconds: Math.round(aheadMs / SECOND) });
    return { now, byDeliveries: Math.min(now, this.#delivery), byApi: Math.min(now, this.#api) };
  }

  #tick(): void {
    if (this.#deps.clock.takeSetBackMs() > MAX_NOISE_MS) this.#areWaitsWrong = true;
    if (this.#areWaitsWrong) {
      this.#restartWaits().catch((error: unknown) => {
        this.#deps.logger.error(errorFields(error, true), "waits_not_restarted");
      });
    }
    if (this.#delivery - this.#keptDelivery > HOUR) {
      this.#keptDelivery = this.#delivery;
      void this.#keepOrTell();
    }
    this.#timer = this.#deps.clock.setTimer(() => this.#tick(), TICK_MS);
  }

  /** Corrects waits that end at a time of a clock that was ahead: they would last for hours, or for a year. */
  async #restartWaits(): Promise<void> {
    if (this.#isRestarting) return;
    const { store, clock, logger } = this.#deps;
    const now = clock.now();
    this.#isRestarting = true;
    this.#areWaitsWrong = false;
    try {
      const waits = await store.restartWaits({ now, leaseUntil: now + LEASE_MS });
      if (waits > 0) logger.warn({ waits }, "clock_was_ahead");
    } catch (error) {
      this.#areWaitsWrong = true;
      throw error;
    } finally {
      this.#isRestarting = false;
    }
  }

  /**
   * Keeps the times, and returns the trusted one. Times in the future, known from a clock that was ahead, become now:
   * that can only keep data for longer.
   */
  async #keep(): Promise<number> {
    const { store, clock } = this.#deps;
    // Other processes see other deliveries.
    const known = await store.noteTimes({});
    const [now, elapsed] = [clock.now(), elapsedBy(clock)];
    this.#delivery = Math.min(now, newest(this.#delivery, known.delivery ?? 0));
    this.#api = Math.min(now, newest(this.#api, known.api ?? 0));
    this.#keptDelivery = this.#delivery;
    const passed = this.#trusted === undefined ? now : this.#trusted.at + elapsed - this.#trusted.elapsed;
    const at = Math.floor(Math.min(now, Math.max(passed, this.#delivery, this.#api)));
    this.#trusted = { at, elapsed };
    await store.noteTimes({ clock: at, delivery: this.#delivery, api: this.#api });
    return at;
  }
}

/** The newer of two times. A time that cannot be read (NaN) does not count. */
function newest(known: number, given: number): number {
  return given > known ? given : known;
}

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
