import type { InboxOperator } from "../store/inbox-operator.js";
import { type EventDetail, bodyOf } from "../store/inbox-view.js";
import type { StuckQuery } from "../store/store.js";
import type { ParkedNote } from "../store/work.js";
import type { StoreDeps } from "./registry.js";

const PAGE = 100;

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
