import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { inTime } from "../base/wait.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type EventDetail, bodyOf } from "../store/inbox-view.js";
import type { StuckQuery } from "../store/store.js";
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

/** What events are read again with. */
export interface RereadDeps extends StoreDeps {
  /** Of the same store. */
  operator: Pick<InboxOperator, "getEvent">;
}

/**
 * Reads all events with such work again, oldest first, until `signal` is aborted. Resolves with the number of these
 * events, of the pieces of work that are pending now, and of the events that are still parked. Throws `body_dropped`,
 * but leaves out requested events without a body.
 */
export async function readAllAgain(
  deps: Omit<RereadDeps, "logger">,
  state: StuckQuery["state"],
  signal?: AbortSignal,
): Promise<{ events: number; pending: number; stillParked: number }> {
  const { store, operator, clock } = deps;
  const requested = state === "requested";
  const total = { events: 0, pending: 0, stillParked: 0 };
  for (let afterSeq = 0; ;) {
    const page = await store.listStuck({ state, limit: PAGE, afterSeq });
    for (const { id, seq } of page) {
      if (signal?.aborted === true) return total;
      afterSeq = seq;
      const event = await operator.getEvent(id);
      // Of an id that is gone, the newest event with it in a named source is found.
      if (event?.id !== id || (requested && event.body === null)) continue;
      const { pending, parked } = await readAgain(deps, event, { now: clock.now(), requested });
      total.events += 1;
      total.pending += pending;
      if (parked !== undefined) total.stillParked += 1;
    }
    if (page.length < PAGE) return total;
  }
}

/** Reads parked events again whose retry was requested from outside, as the command `inbox retry` does. */
export class RequestedRetries {
  readonly #deps: RereadDeps;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: RereadDeps) {
    this.#deps = deps;
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
    const total = await readAllAgain(this.#deps, "requested", this.#stopping.signal);
    if (total.events > 0) this.#deps.logger.info(total, "parked_events_read_again");
  }
}
