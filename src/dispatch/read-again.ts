import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { inTime } from "../base/wait.js";
import { type EventDetail, bodyOf } from "../store/inbox-view.js";
import type { ParkedNote } from "../store/work.js";
import type { HandlerRegistry, StoreDeps } from "./registry.js";

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
  readonly #stopping = new AbortController();
  /** True once the events that were parked before the start have been read. */
  hasReadParked: boolean;
  #running: Promise<void> | undefined;

  /** `retryParked`: also those, once, that match a handler now. */
  constructor(deps: StoreDeps, retryParked: boolean) {
    this.#deps = deps;
    this.hasReadParked = !retryParked;
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
    if (this.hasReadParked) return;
    this.hasReadParked = true;
    const { store, registry, clock } = this.#deps;
    const listParked: ListEvents = (query) => store.listStuck({ state: "parked", ...query });
    for await (const event of this.#eventsOf(listParked))
      if (matchesHandler(registry, event)) await store.requestRetry(event.seq, clock.now());
    await this.#readAll();
  }

  async #readAll(): Promise<void> {
    const { store, clock, logger } = this.#deps;
    const total = { events: 0, pending: 0, stillParked: 0 };
    for await (const event of this.#eventsOf((query) => store.listRequested(query))) {
      if (event.body === null) continue;
      const { pending, parked } = await readAgain(this.#deps, event, { now: clock.now(), requested: true });
      total.events += 1;
      total.pending += pending;
      if (parked !== undefined) total.stillParked += 1;
    }
    if (total.events > 0) logger.info(total, "parked_events_read_again");
  }

  /** The events of a list until the stop, a page at a time. */
  async *#eventsOf(list: ListEvents): AsyncGenerator<EventDetail> {
    const { signal } = this.#stopping;
    for (let afterSeq = 0, isLeft = true; isLeft;) {
      const page = await list({ limit: PAGE, afterSeq });
      for (const { id, seq } of page) {
        if (signal.aborted) return;
        afterSeq = seq;
        const event = await this.#deps.store.getEvent(id);
        if (event !== undefined) yield event;
      }
      isLeft = page.length === PAGE;
    }
  }
}

type ListEvents = (query: { limit: number; afterSeq: number }) => Promise<{ seq: number; id: string }[]>;

/** Work in which processes died is left to the operator: it could end each process that starts. */
function matchesHandler(registry: HandlerRegistry, { body, handlers }: EventDetail): boolean {
  const waits = handlers.some(({ handler, state }) => handler === NOTE_HANDLER && state === "parked");
  if (body === null || !waits || handlers.some(({ reason }) => reason === "crash_loop")) return false;
  const route = registry.route(registry.read(body));
  return route.parked === undefined && route.handlers.length > 0;
}
