import type { Clock } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { Store } from "../store/store.js";
import { readAgain } from "./read-again.js";
import type { HandlerRegistry } from "./registry.js";

const PAGE = 100;

export interface RequestedRetriesDeps {
  store: Store;
  registry: HandlerRegistry;
  clock: Clock;
  logger: Logger;
}

/** Reads parked events again whose retry was requested from outside, as the command `inbox retry` does. */
export class RequestedRetries {
  readonly #deps: RequestedRetriesDeps;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(deps: RequestedRetriesDeps) {
    this.#deps = deps;
  }

  /** Begins with what is requested now, unless it still runs. Only for the process that runs the handlers. */
  check(): void {
    this.#running ??= this.#readAll()
      .catch((error: unknown) => this.#deps.logger.error(errorFields(error, true), "requested_retries_failed"))
      .finally(() => (this.#running = undefined));
  }

  /** Ends with the event that is being read; what is left waits for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #readAll(): Promise<void> {
    const { store, clock, logger } = this.#deps;
    const total = { events: 0, pending: 0, stillParked: 0 };
    let afterSeq = 0;
    for (let isLeft = true; isLeft && !this.#isStopped;) {
      const requested = await store.listRequested({ limit: PAGE, afterSeq });
      for (const { id, seq } of requested) {
        afterSeq = seq;
        const event = this.#isStopped ? undefined : await store.get(id);
        if (event?.body === undefined) continue;
        const { pending, parked } = await readAgain(this.#deps, event, { now: clock.now(), requested: true });
        total.events += 1;
        total.pending += pending;
        if (parked !== undefined) total.stillParked += 1;
      }
      isLeft = requested.length === PAGE;
    }
    if (total.events > 0) logger.info(total, "parked_events_read_again");
  }
}
