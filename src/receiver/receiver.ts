import type { Handler, HandlerOptions } from "../dispatch/handler.js";
import type { FetchHandler } from "../http/fetch-mount.js";
import type { ListenerOptions, NodeListener, NodeMiddleware } from "../http/node-mount.js";
import type { AnyEvent, EventMatching, EventPattern, SchemaMap } from "../protocol/event.js";
import type { OutcomeKind } from "../protocol/outcome.js";
import type { StoreCounts } from "../store/inbox-view.js";
import type { OutboxCounts } from "../store/outbox.js";
import type { ContactEvents } from "./contact-events.js";
import type { Inbox } from "./inbox.js";

/** Where the receiver is in its life. Deliveries are taken from `running` on; those of `starting` wait for it. */
export type ReceiverState = "new" | "starting" | "running" | "stopping" | "stopped";

export interface ReceiverStats extends Omit<StoreCounts, "oldestPendingReceivedAt" | "oldestDueAt"> {
  state: ReceiverState;
  /** Age of the oldest event that has pending work, retries included, in milliseconds; 0 when nothing is pending. */
  oldestPendingAgeMs: number;
  /** How long the work that is due has been waiting at most, in milliseconds; 0 when handlers keep up. */
  lagMs: number;
  /** Contact events that wait, are on their way, or were given up; and the age of the oldest unsettled one in milliseconds. */
  outbox: Omit<OutboxCounts, "oldestRecordedAt"> & { oldestAgeMs: number };
  /** Deliveries answered since the receiver was made, by outcome. */
  answers: Record<OutcomeKind, number>;
  /** Answers other than 2xx in a row; the service switches the endpoint off at `disablesAt`. */
  failuresInARow: number;
  disablesAt: number;
  /** When a delivery was last accepted, in milliseconds since 1970; undefined when none was since the start. */
  lastAcceptedAt: number | undefined;
  /** Deliveries whose commit is under way. */
  waiting: number;
}

/** Takes deliveries of one endpoint, keeps them, and runs handlers. Made by `createReceiver`. */
export interface Receiver<Schemas extends SchemaMap = SchemaMap> {
  /**
   * Registers a handler before `start`. Throws `duplicate_handler` for a second one of the same name, `already_started`, or
   * `invalid_argument` for a type that the service does not have.
   */
  on<const Pattern extends EventPattern<Schemas>>(
    pattern: Pattern | readonly Pattern[],
    handler: Handler<EventMatching<Schemas, Pattern>>,
    options?: HandlerOptions<EventMatching<Schemas, Pattern>>,
  ): this;
  /** Registers a handler for events that no other handler matches; `event.known` tells new types apart. */
  onUnhandled(handler: Handler<AnyEvent>): this;

  /** For an Express route, a Connect app, or node:http as it is. */
  middleware(): NodeMiddleware;
  /** For `http.createServer`: answers `path` itself and gives the rest to an Express app, at a fraction of its cost. */
  listener(options: ListenerOptions): NodeListener;
  /** For runtimes that speak the Fetch standard. */
  fetch: FetchHandler;

  /** Opens the store, takes up what a crash left, and begins to take deliveries. Rejects when that is not possible. */
  start(): Promise<void>;
  /**
   * Answers new deliveries 503, lets running handlers end for `timeoutMs` (default 10,000), aborts the rest and closes the store.
   * What was not done runs after the next start.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>;

  stats(): Promise<ReceiverStats>;
  readonly inbox: Inbox;
  readonly contactEvents: ContactEvents;
}
