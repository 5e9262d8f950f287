import type { Clock, Timer } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { RunRecord } from "../dispatch/run-record.js";
import type { Store } from "../store/store.js";

/** A process that is killed loses the counts of so long. */
const BETWEEN_WRITES_MS = 10 * SECOND;

interface HandlerTimesWriterDeps {
  store: Store<unknown>;
  record: RunRecord;
  clock: Clock;
  logger: Logger;
}

/**
 * Writes to the store how long handlers took. Nothing waits for it, and what cannot be written is dropped: only a
 * display lacks it.
 */
export class HandlerTimesWriter {
  readonly #deps: HandlerTimesWriterDeps;
  #timer: Timer | undefined;
  #stopped = false;
  #hasFailed = false;

  constructor(deps: HandlerTimesWriterDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = this.#deps.clock.setTimer(() => void this.#write().then(() => this.start()), BETWEEN_WRITES_MS);
  }

  /** The last write is begun, and ends with the close of the store. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    void this.#write();
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { store, record, clock, logger } = this.#deps;
    const ended = record.takeEndedRuns();
    if (ended.length === 0) return;
    try {
      await store.noteHandlerTimes(ended, clock.now());
      this.#hasFailed = false;
    } catch (error) {
      // Not each of them: a store that fails reports it elsewhere.
      if (!this.#hasFailed) logger.warn(errorFields(error, true), "handler_times_not_kept");
      this.#hasFailed = true;
    }
  }
}
