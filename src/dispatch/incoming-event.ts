import type { Delivery } from "../protocol/decode-delivery.js";
import type { AnyEvent } from "../protocol/event.js";
import type { TraceContext } from "../store/trace-context.js";
import type { Lease, NewWork } from "../store/work.js";
import type { HandlerWorker } from "./handler-worker.js";
import type { LeaseWindow, ReadyWork } from "./lease-window.js";
import type { Route } from "./registry.js";

/** A delivery that is to be stored, and the handlers that get it. */
export interface IncomingEvent {
  delivery: Delivery;
  route: Route;
  /** When the whole body was received, in milliseconds since 1970. */
  receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  signedAt: number;
  body: Uint8Array;
  /** The span of the delivery; undefined without one. */
  trace: TraceContext | undefined;
}

/** Work planned for an event that is about to be stored. */
export interface Plan {
  work: NewWork[];
  /** Those of the work that is leased in the same commit, in that order. Each has room reserved for it. */
  reserved: HandlerWorker[];
}

/** The first run of an event that was leased as it was accepted. */
export function firstRun(window: LeaseWindow, lease: Lease, incoming: IncomingEvent, event: AnyEvent): ReadyWork {
  const { seq, handler, token } = lease;
  const { delivery, receivedAt, signedAt, body, trace } = incoming;
  const work = {
    seq,
    handler,
    token,
    eventId: delivery.id,
    receivedAt,
    signedAt,
    dueAt: receivedAt,
    attempt: 1,
    failures: 0,
    crashes: 0,
    body,
    trace,
  };
  return { lease: window.addReserved(work), work, event };
}
