import type { RegisteredHandler } from "../dispatch/handler.js";
import type { HandlerRegistry } from "../dispatch/registry.js";
import type { AnyEvent } from "../protocol/event.js";
import type { ParkedNote } from "../store/work.js";

/** Who is to see an event, and whether it is parked beside that. */
export interface Route {
  handlers: readonly RegisteredHandler[];
  parked: ParkedNote | undefined;
}

/**
 * Finds the handlers of an event. What none of `on` matches goes to `onUnhandled`; if its type is new to this version it is
 * parked as well, so that a handler registered later can still have it. Test events that nobody asked for go nowhere.
 */
export function routeEvent(event: AnyEvent, registry: HandlerRegistry): Route {
  const handlers = registry.match(event.type, event.test);
  if (handlers.length > 0 || event.test) return { handlers, parked: undefined };
  const unhandled = registry.unhandled === undefined ? [] : [registry.unhandled];
  if (event.known) return { handlers: unhandled, parked: undefined };
  return {
    handlers: unhandled,
    parked: { reason: "unknown_type", detail: "This version does not know the event type, and no handler matches it." },
  };
}
