import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { inTime } from "../base/wait.js";
import { type ParkedAtStart, type ParkedAtStartDeps, readParkedAtStart } from "./parked-at-start.js";
import { readAgain } from "./read-again.js";

const PAGE = 100;
/** How long the event that is being read is waited for at the end: a server may have fallen silent. */
const ENDS_WITHIN_MS = 2 * SECOND;

/** Reads parked events again whose retry was requested from outside, as the command `inbox retry` does. */
export class RequestedRetries {
  readonly #deps: ParkedAtStartDeps;
  readonly #parkedAtStart: ParkedAtStart;
  readonly #stopping = new AbortController();
  #hasReadParked: boolean;
  #running: Promise<void> | undefined;

  constructor(deps: ParkedAtStartDeps, parkedAtStart: ParkedAtStart) {
    this.#deps = deps;
    this.#parkedAtStart = parkedAtStart;
    this.#hasReadParked = parkedAtStart === "leave";
  }

  /** True once the events that were parked before the start have been read. */
  get hasReadParked(): boolean {
    return this.#hasReadParked;
  }

  /**
   * Begins with what is requested now, unless it still runs, and resolves when that is read. Never rejects. Only for
   * the process that runs the handlers.
   */
  check(): Promise<void> {
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#deps.logger.error(errorFields(error, true), "requested_retries_failed");
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Ends with the event that is being read; what is left waits for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#running !== undefined) await inTime(this.#running, waitingClock, ENDS_WITHIN_MS);
  }

  async #run(): Promise<void> {
    await this.#readAll();
    if (this.#hasReadParked) return;
    this.#hasReadParked = true;
    await readParkedAtStart(this.#deps, this.#parkedAtStart, this.#stopping.signal);
    await this.#readAll();
  }

  async #readAll(): Promise<void> {
    const { signal } = this.#stopping;
    const { store, clock, logger } = this.#deps;
    const total = { events: 0, pending: 0, stillParked: 0 };
    let afterSeq = 0;
    for (let isLeft = true; isLeft && !signal.aborted;) {
      const requested = await store.listRequested({ limit: PAGE, afterSeq });
      for (const { id, seq } of requested) {
        afterSeq = seq;
        const event = signal.aborted ? undefined : await store.get(id);
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
