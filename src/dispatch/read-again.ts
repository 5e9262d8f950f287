import type { EventDetail } from "../store/inbox-view.js";
import { bodyOf } from "../store/inbox-view.js";
import type { Store } from "../store/store.js";
import type { ParkedNote } from "../store/work.js";
import type { HandlerRegistry } from "./registry.js";

export interface ReadAgainDeps {
  store: Store<unknown>;
  registry: HandlerRegistry;
}

/** The handlers that would get the body if it was delivered now, or why it would be parked. */
export interface StoredRoute {
  handlers: readonly string[];
  parked?: ParkedNote;
}

/** Finds the handlers of a stored body, with today's schemas. */
export function routeStored(registry: HandlerRegistry, body: Uint8Array): StoredRoute {
  const { handlers, parked } = registry.route(registry.read(body));
  return { handlers: handlers.map(({ name }) => name), ...(parked && { parked }) };
}

/**
 * Plans the work of a stored event by today's schemas and handlers. Throws `body_dropped`. With `requested` only if its
 * retry is still requested.
 */
export async function readAgain(
  { store, registry }: ReadAgainDeps,
  event: EventDetail,
  { now, requested = false }: { now: number; requested?: boolean },
): Promise<{ pending: number; parked: ParkedNote | undefined }> {
  const route = routeStored(registry, bodyOf(event));
  const pending = await store.replan({ seq: event.seq, now, requested, ...route });
  return { pending, parked: route.parked };
}
