import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { inTime } from "../base/wait.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type EventDetail, bodyOf } from "../store/inbox-view.js";
import type { ParkedNote } from "../store/work.js";
import type { StoreDeps } from "./registry.js";

const PAGE = 100;
/** How long the event that is being read is waited for at the end: a server may have fallen silent. */
const ENDS_WITHIN_MS = 2 * SECOND;

/**
 * Plans the work of a stored event by today's schemas and handlers. Throws `body_dropped`. With `requested` only if its
 * retry is still requested.
 */
export async function readAgain(
  { store, registry }: Pick<StoreDeps, "store" | "registry">,
  event: EventDetail,
  { now, requested = false }: { now: number; requested?: boolean },
): Promise<{ pending: number; parked: ParkedNote | undefined }> {
  const { handlers, parked } = registry.route(registry.read(bodyOf(event)));
  const plan = { seq: event.seq, handlers: handlers.map(({ name }) => name), now, requested };
  return { pending: await store.replan(parked === undefined ? plan : { ...plan, parked }), parked };
}

/** Reads parked events again whose retry was requested from outside, as the command `inbox retry` does. */
export class RequestedRetries {
  readonly #deps: StoreDeps;
  readonly #operator: Pick<InboxOperator, "getEvent">;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#operator = deps.store.openOperator(() => deps.clock.now());
  }

  /**
   * Begins with what is requested now, unless it still runs, and resolves when that is read. Never rejects. Only for
   * the process that runs the handlers.
   */
  check(): Promise<void> {
    this.#running ??= this.#readAll()
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

  async #readAll(): Promise<void> {
    const { clock, logger } = this.#deps;
    const total = { events: 0, pending: 0, stillParked: 0 };
    for await (const event of this.#requested()) {
      if (event.body === null) continue;
      const { pending, parked } = await readAgain(this.#deps, event, { now: clock.now(), requested: true });
      total.events += 1;
      total.pending += pending;
      if (parked !== undefined) total.stillParked += 1;
    }
    if (total.events > 0) logger.info(total, "parked_events_read_again");
  }

  /** The events until the stop, a page at a time. */
  async *#requested(): AsyncGenerator<EventDetail> {
    const { store } = this.#deps;
    const { signal } = this.#stopping;
    for (let afterSeq = 0, isLeft = true; isLeft;) {
      const page = await store.listStuck({ state: "requested", limit: PAGE, afterSeq });
      for (const { id, seq } of page) {
        if (signal.aborted) return;
        afterSeq = seq;
        const event = await this.#operator.getEvent(id);
        if (event !== undefined) yield event;
      }
      isLeft = page.length === PAGE;
    }
  }
}
