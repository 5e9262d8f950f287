import type { Timer } from "../base/clock.js";
import { DAY, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { RememberingClock } from "../base/remembering-clock.js";
import type { KnownTimes, Store } from "../store/store.js";
import type { Alarms } from "./alarms.js";

const TICK_MS = 10 * SECOND;
/** A clock that was set back by less does no harm. */
const MOST_NOISE_MS = SECOND;
/** Leases that were given while the clock was ahead end after this, unless their holder renews them. */
const LEASE_MS = MINUTE;
/** A clock that goes forward by more than this at once may be wrong. */
const LONGEST_STEP_MS = DAY;

interface ClockWatchDeps {
  store: Store;
  clock: RememberingClock;
  logger: Logger;
  alarms: Alarms;
}

/** The times by which things grow old. */
export interface TrustedTimes {
  now: number;
  /** Not later than the clock, nor than the newest time that a delivery told; 0 when none did. */
  byDeliveries: number;
  /** Not later than the clock, nor than the newest time that the API told; 0 when it told none. */
  byApi: number;
}

/**
 * Holds this machine's clock against what the service tells of the time. What is dropped for its age is gone for good, so a clock
 * that has gone forward by more than a day is not believed until a delivery or an answer of the API confirms it. When it is set back, and
 * at the start, what waits by its earlier time is put right.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps;
  #timer: Timer | undefined;
  #delivery = 0;
  #api = 0;
  /** What the clock should show by now, give or take; undefined before the first look. */
  #expected: number | undefined;
  /** By how much the clock seems to be wrong; undefined while it is believed. */
  #doubtMs: number | undefined;

  /** The clock was set back since waits were last put right. */
  #areWaitsWrong = false;

  constructor(deps: ClockWatchDeps) {
    this.#deps = deps;
  }

  /** Goes on from what was known when the process before this one ended. */
  async start(): Promise<void> {
    const known = await this.#deps.store.noteTimes({});
    this.#delivery = Math.max(this.#delivery, known.delivery ?? 0);
    this.#api = Math.max(this.#api, known.api ?? 0);
    this.#expected = known.clock;
    await this.#restartWaits();
    this.#timer?.cancel();
    this.#tick();
  }

  /** What is known is kept for the next process. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    if (this.#expected === undefined) return;
    await this.#keep(this.#look()).catch((error: unknown) => {
      this.#deps.logger.warn(errorFields(error, true), "times_not_kept");
    });
  }

  /**
   * A genuine delivery tells the time. Not its signature alone: a replay of ours signs with this machine's clock, but it leaves
   * `createdAt` as it was. Test deliveries tell nothing, since `pigeonhole doctor` makes them with this machine's clock too.
   */
  sawDelivery({ createdAt, test }: { createdAt: string; test: boolean }, signedAt: number): void {
    if (!test) this.#delivery = newest(this.#delivery, Math.min(Date.parse(createdAt), signedAt));
  }

  /** An answer of the API tells the time at which it stored an event. */
  sawApi(createdAt: string): void {
    this.#api = newest(this.#api, Date.parse(createdAt));
  }

  /** A genuine signature was too old: the clock may be ahead by this much. */
  doubt(skewMs: number): void {
    this.#doubtMs ??= skewMs;
  }

  /** The times to drop things by; undefined, with an alarm, while the clock is not believed. */
  async trustedTimes(): Promise<TrustedTimes | undefined> {
    const now = this.#look();
    await this.#keep(now);
    if (this.#doubtMs !== undefined) {
      this.#raise(this.#doubtMs);
      return undefined;
    }
    return { now, byDeliveries: Math.min(now, this.#delivery), byApi: Math.min(now, this.#api) };
  }

  #tick(): void {
    if (this.#deps.clock.takeSetBackMs() > MOST_NOISE_MS) this.#areWaitsWrong = true;
    if (this.#areWaitsWrong) {
      this.#restartWaits().catch((error: unknown) => {
        this.#deps.logger.error(errorFields(error, true), "waits_not_restarted");
      });
    }
    this.#look();
    this.#timer = this.#deps.clock.setTimer(() => this.#tick(), TICK_MS);
  }

  #look(): number {
    const now = this.#deps.clock.now();
    const stepMs = this.#expected === undefined ? 0 : now - this.#expected;
    this.#expected = now;
    if (stepMs > LONGEST_STEP_MS) {
      this.#doubtMs = (this.#doubtMs ?? 0) + stepMs;
      if (!this.#isConfirmed(now)) this.#raise(this.#doubtMs);
    } else if (stepMs < 0 && this.#doubtMs !== undefined) {
      // Set back: what was doubted may be mended by that.
      this.#doubtMs += stepMs;
    }
    if (this.#doubtMs !== undefined && (this.#doubtMs <= 0 || this.#isConfirmed(now))) {
      this.#doubtMs = undefined;
      this.#deps.logger.info({}, "clock_confirmed");
    }
    return now;
  }

  /** What waits until a time of a clock that was ahead would wait for hours, or for a year. */
  async #restartWaits(): Promise<void> {
    const { store, clock, logger } = this.#deps;
    const now = clock.now();
    const waits = await store.restartWaits({ now, leaseUntil: now + LEASE_MS });
    this.#areWaitsWrong = false;
    if (waits > 0) logger.warn({ waits }, "clock_was_ahead");
  }

  #isConfirmed(now: number): boolean {
    return now - Math.max(this.#delivery, this.#api) <= LONGEST_STEP_MS;
  }

  /** What was told by a time to come, while the clock was ahead, is taken back: that can only keep things for longer. */
  async #keep(now: number): Promise<void> {
    this.#delivery = Math.min(now, this.#delivery);
    this.#api = Math.min(now, this.#api);
    const times: KnownTimes = { delivery: this.#delivery, api: this.#api };
    await this.#deps.store.noteTimes(this.#doubtMs === undefined ? { ...times, clock: now } : times);
  }

  #raise(skewMs: number): void {
    this.#deps.alarms.raise({ kind: "clock_skew", skewSeconds: Math.round(skewMs / SECOND) });
  }
}

/** What cannot be read as a time tells none. */
function newest(known: number, told: number): number {
  return told > known ? told : known;
}
