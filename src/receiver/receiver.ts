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

/** Counts of pieces of work (one event for one handler) by state, and what tells whether the receiver is well. */
export interface ReceiverStats extends Omit<
  StoreCounts,
  "oldestPendingReceivedAt" | "oldestLeasedReceivedAt" | "oldestDueAt"
> {
  state: ReceiverState;
  /** When the store was counted, in milliseconds since 1970; undefined before the first start, when all counts are 0. */
  countedAt: number | undefined;
  /** Age of the oldest event that is not handled yet, in milliseconds: it waits, waits for a retry, or its handler runs. 0 when all is done. */
  oldestPendingAgeMs: number;
  /**
   * How long the work that is due has been waiting for a handler at most, in milliseconds; 0 when handlers keep up. Handlers that run
   * do not count. In a process that does not run the handlers of the file, only what waits in the store is seen.
   */
  lagMs: number;
  /** Contact events that wait, are on their way, or were given up; and the age of the oldest unsettled one in milliseconds. */
  outbox: Omit<OutboxCounts, "oldestRecordedAt"> & { oldestAgeMs: number };
  /** Deliveries answered since the receiver was made, by outcome. */
  answers: Record<OutcomeKind, number>;
  /** Answers other than 2xx in a row, those to strangers left out; the service switches the endpoint off at `disablesAt`. */
  failuresInARow: number;
  /** 100, the service's limit. */
  disablesAt: number;
  /** When a delivery was last stored, in milliseconds since 1970, duplicates left out; undefined when none was since the receiver was made. */
  lastAcceptedAt: number | undefined;
  /** Deliveries that were read and not settled yet: their commit, the secrets or the start is awaited, also past an answer that was due. */
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
  /** For `http.createServer`: answers `path` itself and gives the rest to an Express app, whose cost it saves. */
  listener(options: ListenerOptions): NodeListener;
  /** For runtimes that speak the Fetch standard. */
  fetch: FetchHandler;

  /** Where the receiver is in its life: what a readiness probe asks for. Never fails and asks nobody. */
  readonly state: ReceiverState;
  /**
   * Opens the store, takes up what a crash left, and begins to take deliveries. Called again, it is the same start. Rejects with what the
   * `secrets` function rejects with, `invalid_secret`, `wait_timeout` when that function does not answer within 30 s, the store's errors
   * (`store_busy`, `store_failed`, `schema_too_new`, `not_a_pigeonhole_database`, …), or `invalid_option` for a Store that another receiver
   * has; the store is closed again then, and another start may do better. Rejects with `stopped` after `stop`; a stop in the middle of it
   * ends it early, and it resolves in the state `stopping`.
   */
  start(): Promise<void>;
  /**
   * Answers new deliveries 503, lets running handlers end for `timeoutMs` (in milliseconds, default 10,000), aborts the rest and closes
   * the store. What was not done runs after the next start, of another receiver: this one is at its end. Called again, it is the same
   * stop. Throws `invalid_option` for a `timeoutMs` that is no whole number. Rejects when the store cannot be closed properly.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>;

  /**
   * What dashboards and health checks ask for. Answers in every state: before the start with zeros, after the stop with what was counted
   * last (see `countedAt`). Rejects only while the receiver runs and its store does not answer (`store_busy`, `store_failed`); `state`
   * alone never fails.
   */
  stats(): Promise<ReceiverStats>;
  /** A look at what came in, and second chances. Its methods reject with `stopped` before the start and after the stop. */
  readonly inbox: Inbox;
  /** Contact events outside of handlers. Its methods reject with `stopped` before the start and after the stop. */
  readonly contactEvents: ContactEvents;
}
