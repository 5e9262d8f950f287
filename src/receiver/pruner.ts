import { setImmediate } from "node:timers/promises";
import { type Clock, type Timer, elapsedBy } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import { errorFields } from "../base/error-fields.js";
import type { PruneLimits, Store } from "../store/store.js";
import type { ClockWatch } from "./clock-watch.js";
import type { Retention } from "./options.js";

/** Small, so that a delivery never waits long behind one. */
const BATCH = 100;
const BETWEEN_BATCHES_MS = 50;
const BETWEEN_ROUNDS_MS = HOUR;

interface PrunerDeps {
  store: Store<unknown>;
  clock: Clock;
  clockWatch: ClockWatch;
  logger: Logger;
  retention: Retention;
}

/** Drops what retention no longer keeps, in small batches between the deliveries. */
export class Pruner {
  readonly #deps: PrunerDeps;
  #timer: Timer | undefined;
  #stopped = false;
  /** When a drain need not prune before, by the clock that measures how long something takes. */
  #roundDueAt = -Infinity;

  constructor(deps: PrunerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#after(BETWEEN_BATCHES_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /**
   * Prunes within a drain, where no round begins by itself: a round an hour, without pauses, which the next drain
   * continues if `signal` ends it. Never rejects.
   */
  async pruneUntil(signal: AbortSignal): Promise<void> {
    const { store, clock, logger } = this.#deps;
    if (elapsedBy(clock) < this.#roundDueAt) return;
    try {
      const limits = await this.#limits();
      while (!signal.aborted && (await store.prune(limits)) > 0) await setImmediate();
      if (!signal.aborted) this.#roundDueAt = elapsedBy(clock) + BETWEEN_ROUNDS_MS;
    } catch (error) {
      if (!signal.aborted) logger.error(errorFields(error, true), "prune_failed");
    }
  }

  /** Continues a round, or begins the next one. */
  #after(delayMs: number, limits?: PruneLimits): void {
    if (!this.#stopped) this.#timer = this.#deps.clock.setTimer(() => void this.#pruneBatch(limits), delayMs);
  }

  /** Never rejects. */
  async #pruneBatch(begun: PruneLimits | undefined): Promise<void> {
    const { store, logger } = this.#deps;
    try {
      const limits = begun ?? (await this.#limits());
      if ((await store.prune(limits)) > 0) return this.#after(BETWEEN_BATCHES_MS, limits);
    } catch (error) {
      logger.error(errorFields(error, true), "prune_failed");
    }
    this.#after(BETWEEN_ROUNDS_MS);
  }

  /**
   * An id must be old by the service's time as well: otherwise the event could be delivered again and take effect
   * twice.
   */
  async #limits(): Promise<PruneLimits> {
    const { clock, clockWatch, retention } = this.#deps;
    const { now, byDeliveries, byApi } = await clockWatch.trustedTimes();
    return {
      now: clock.now(),
      idsBefore: byDeliveries - retention.idsMs,
      bodiesBefore: now - retention.bodiesMs,
      sentBefore: byApi - retention.idsMs,
      batch: BATCH,
    };
  }
}
