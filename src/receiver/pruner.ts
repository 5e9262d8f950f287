import type { Clock, Timer } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import { errorFields } from "../base/error-fields.js";
import type { Store } from "../store/store.js";
import type { Retention } from "./options.js";

/** Small, so that a delivery never waits long behind one. */
const BATCH = 100;
const BETWEEN_BATCHES_MS = 50;
const BETWEEN_ROUNDS_MS = HOUR;

/** Drops what retention lets go, in small batches among the deliveries. */
export class Pruner {
  readonly #deps: { store: Store; clock: Clock; logger: Logger; retention: Retention };
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: { store: Store; clock: Clock; logger: Logger; retention: Retention }) {
    this.#deps = deps;
  }

  start(): void {
    this.#wait(BETWEEN_BATCHES_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = this.#deps.clock.setTimer(() => void this.#pruneBatch(), delayMs);
  }

  async #pruneBatch(): Promise<void> {
    const { store, clock, logger, retention } = this.#deps;
    const now = clock.now();
    try {
      const limits = { idsBefore: now - retention.idsMs, bodiesBefore: now - retention.bodiesMs, batch: BATCH };
      this.#wait((await store.prune(limits)) > 0 ? BETWEEN_BATCHES_MS : BETWEEN_ROUNDS_MS);
    } catch (error) {
      logger.error(errorFields(error, true), "prune_failed");
      this.#wait(BETWEEN_ROUNDS_MS);
    }
  }
}
