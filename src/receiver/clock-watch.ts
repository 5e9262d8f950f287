import { type Clock, type Timer, elapsedBy, waitingClock } from "../base/clock.js";
import { DAY, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import { inTime } from "../base/wait.js";
import type { KnownTimes, Store } from "../store/store.js";
import type { Alarm } from "./alarm-table.js";
import type { Alarms, AlarmChange, Watch } from "./alarms.js";

const TICK_MS = 10 * SECOND;
/** A clock that was set back by less does no harm. */
const MAX_NOISE_MS = SECOND;
/** Leases that were given while the clock was ahead end after this, unless their holder renews them. */
const LEASE_MS = MINUTE;
/** A start goes on after this time, and waits are corrected meanwhile: there may be millions of them. */
const RESTARTED_WITHIN_MS = 5 * SECOND;
/** A clock that moves forward by more than this at once may be wrong. */
const MAX_STEP_MS = DAY;

interface ClockWatchDeps {
  store: Store<unknown>;
  clock: RememberingClock;
  logger: Logger;
  alarms: Alarms;
}

/** The times by which the age of stored data is measured. */
export interface TrustedTimes {
  now: number;
  /** Not later than the clock, nor than the newest time in a delivery; 0 when there was none. */
  byDeliveries: number;
  /** Not later than the clock, nor than the newest time in an answer of the API; 0 when there was none. */
  byApi: number;
}

/**
 * Compares this machine's clock with the times that the service sends. What is dropped for its age cannot be restored,
 * so a clock that moved forward by more than a day is not trusted until a delivery or an answer of the API confirms it.
 * When it is set back, and at the start, waits that its earlier time made too long are corrected.
 */
export class ClockWatch implements Watch<number> {
  readonly #deps: ClockWatchDeps;
  #timer: Timer | undefined;
  #delivery = 0;
  #api = 0;
  /** The time of the last check; undefined before the first. */
  #expected: number | undefined;
  /** By how much the clock seems to be wrong; undefined while it is trusted. */
  #doubtMs: number | undefined;

  /** The clock was set back since waits were last corrected. */
  #areWaitsWrong = false;
  #isRestarting = false;

  constructor(deps: ClockWatchDeps) {
    this.#deps = deps;
  }

  /** Continues with the times that the previous process kept. */
  async start(): Promise<void> {
    const known = await this.#deps.store.noteTimes({});
    this.#delivery = Math.max(this.#delivery, known.delivery ?? 0);
    this.#api = Math.max(this.#api, known.api ?? 0);
    this.#expected = known.clock;
    // An inbox that no receiver has used learns when it was begun.
    if (known.clock === undefined) await this.#keep(this.#read());
    await inTime(this.#restartWaits(), waitingClock, RESTARTED_WITHIN_MS);
    this.#timer?.cancel();
    this.#tick();
  }

  /** Keeps the known times for the next process. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    if (this.#expected === undefined) return;
    await this.#keep(this.#read()).catch((error: unknown) => {
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

  /** A genuine signature was too old: the clock may be ahead by this much. */
  doubt(skewMs: number): void {
    this.#doubtMs ??= skewMs;
  }

  /** The times by which data may be dropped; undefined, with an alarm, while the clock is not trusted. */
  async trustedTimes(): Promise<TrustedTimes | undefined> {
    const now = this.#read();
    await this.#keep(now);
    if (this.#doubtMs !== undefined) {
      this.#deps.alarms.raise(skewOf(this.#doubtMs));
      return undefined;
    }
    return { now, byDeliveries: Math.min(now, this.#delivery), byApi: Math.min(now, this.#api) };
  }

  #tick(): void {
    if (this.#deps.clock.takeSetBackMs() > MAX_NOISE_MS) this.#areWaitsWrong = true;
    if (this.#areWaitsWrong) {
      this.#restartWaits().catch((error: unknown) => {
        this.#deps.logger.error(errorFields(error, true), "waits_not_restarted");
      });
    }
    this.#read();
    this.#timer = this.#deps.clock.setTimer(() => this.#tick(), TICK_MS);
  }

  #read(): number {
    const now = this.#deps.clock.now();
    this.#deps.alarms.take(this.look(now));
    return now;
  }

  /** `now`: the time of the clock. */
  look(now: number): readonly AlarmChange[] {
    const changes: AlarmChange[] = [];
    const stepMs = this.#expected === undefined ? 0 : now - this.#expected;
    this.#expected = now;
    if (stepMs > MAX_STEP_MS) {
      this.#doubtMs = (this.#doubtMs ?? 0) + stepMs;
      if (!this.#isConfirmed(now)) changes.push(skewOf(this.#doubtMs));
    } else if (stepMs < 0 && this.#doubtMs !== undefined) {
      // Setting the clock back may have corrected it.
      this.#doubtMs += stepMs;
    }
    if (this.#doubtMs !== undefined && (this.#doubtMs <= 0 || this.#isConfirmed(now))) {
      this.#doubtMs = undefined;
      this.#deps.logger.info({}, "clock_confirmed");
    }
    return changes;
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

  #isConfirmed(now: number): boolean {
    return now - Math.max(this.#delivery, this.#api) <= MAX_STEP_MS;
  }

  /** Times in the future, known from a clock that was ahead, become now: that can only keep data for longer. */
  async #keep(now: number): Promise<void> {
    this.#delivery = Math.min(now, this.#delivery);
    this.#api = Math.min(now, this.#api);
    const times: KnownTimes = { delivery: this.#delivery, api: this.#api };
    await this.#deps.store.noteTimes(this.#doubtMs === undefined ? { ...times, clock: now } : times);
  }
}

function skewOf(skewMs: number): Alarm {
  return { kind: "clock_skew", skewSeconds: Math.round(skewMs / SECOND) };
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
