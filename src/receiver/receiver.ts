import type { BatchHandler, BatchOptions } from "../dispatch/batch-handler.js";
import type { Handler, HandlerOptions } from "../dispatch/handler.js";
import type { FetchHandler } from "../http/fetch-mount.js";
import type { ListenerOptions, NodeListener, NodeMiddleware } from "../http/node-mount.js";
import type { AnyEvent, EventMatching, EventPattern, OneOrMore, SchemaMap } from "../protocol/event.js";
import type { OutcomeKind } from "../protocol/outcome.js";
import type { GateName } from "../store/figures.js";
import type { CommitTransaction } from "../store/commit-transaction.js";
import type { ContactEvents } from "../outbox/contact-events.js";
import type { Inbox } from "./inbox.js";
import type { RepairOptions } from "./repair-endpoint.js";
import type { RepairReport } from "./repair-report.js";
import type { EndpointHealth } from "../operator/figures-now.js";
import type { CountedFigures } from "./store-counter.js";

/** The state of a receiver. Deliveries are taken from `running` on; those of `starting` wait for it. */
export type ReceiverState = "new" | "starting" | "running" | "stopping" | "stopped";

/** Counts of pieces of work (one event for one handler) by state, and figures that show whether the receiver works. */
export interface ReceiverStats extends CountedFigures {
  /** State of the receiver. */
  state: ReceiverState;
  /**
   * What keeps work from its begin in this process, by handler: it is `paused`; a run asked with RetryAfter that all
   * wait (`retry_after`); the `store` is away; work that processes died in runs alone (`crash`); its own `concurrency`;
   * its `fair_share` of the places of all handlers; other work of the same `key`; more events for its `batch`; or
   * its `rate`. Handlers whose work could begin are left out.
   */
  waitsFor: Record<string, GateName>;
  /** Deliveries answered since the receiver was created, by outcome. */
  answers: Record<OutcomeKind, number>;
  /** Of this receiver's answers; what was accepted before its start counts too. */
  endpoint: EndpointHealth;
  /**
   * Deliveries that were read and not settled yet: they wait for their commit or the start, also after an overdue
   * answer.
   */
  waiting: number;
}

/** How `receiver.stop` waits. */
export interface StopOptions {
  /** How long running handlers may go on before they are aborted, in milliseconds. @default 10,000 */
  timeoutMs?: number | undefined;
}

/** How long `receiver.drain` works. */
export interface DrainOptions {
  /**
   * How long at most, in milliseconds; then handlers are aborted where they run only for the drain. Sending a batch of
   * contact events can take 10 s. @default 10,000
   */
  timeoutMs?: number | undefined;
}

/** What `receiver.drain` has done. */
export interface DrainResult {
  /** Runs that ended as done. */
  done: number;
  /** Runs that failed or were aborted; their work runs again. */
  retried: number;
  /** Runs after which the work is dead: it waits for a retry by hand. */
  dead: number;
  /** Contact events that the service has taken. */
  contactEvents: number;
  /**
   * False when there may be more to do now: the time was over, or another process runs the handlers of the store.
   */
  drained: boolean;
}

/**
 * Takes deliveries of one endpoint, stores them, and runs handlers. Created by `createReceiver`. `Tx` is what its store
 * passes to the function of `ctx.commit`.
 */
export interface Receiver<Schemas extends SchemaMap = SchemaMap, Tx = CommitTransaction> {
  /**
   * Registers a handler before `start`. Throws `duplicate_handler` for a second one of the same name,
   * `already_started`, or `invalid_argument` for a type that the service does not have.
   */
  on<const Pattern extends EventPattern<keyof Schemas & string>>(
    pattern: OneOrMore<Pattern>,
    handler: Handler<EventMatching<Schemas, Pattern>, Tx>,
    options?: HandlerOptions<EventMatching<Schemas, Pattern>>,
  ): this;
  /** Registers a handler that takes batches of events, otherwise as `on`: docs/handlers.md#batches. */
  onBatch<const Pattern extends EventPattern<keyof Schemas & string>>(
    pattern: OneOrMore<Pattern>,
    handler: BatchHandler<EventMatching<Schemas, Pattern>, Tx>,
    options?: BatchOptions,
  ): this;
  /** Registers a handler for events that no other handler matches; `event.known` is false for new types. */
  onUnhandled(handler: Handler<AnyEvent, Tx>): this;

  /** For an Express route, a Connect app, or node:http as it is. */
  middleware(): NodeMiddleware;
  /** For `http.createServer`: answers `path` itself and gives the rest to an Express app, whose cost it saves. */
  listener(options: ListenerOptions): NodeListener;
  /** For runtimes that speak the Fetch standard. */
  fetch: FetchHandler;

  /** The receiver's state, for a readiness probe. Never fails, and does not query the store. */
  readonly state: ReceiverState;
  /**
   * Opens the store, takes over what a crash left, and begins to take deliveries. Called again, it is the same start.
   * Rejects with what the `secrets` function rejects with, `invalid_secret`, `wait_timeout` when that function does not
   * answer within 30 s, the store's errors (`store_busy`, `store_failed`, `schema_too_new`,
   * `not_a_pigeonhole_database`, …), or `invalid_option` for a Store that another receiver has; the store is closed
   * again then, and another start may succeed. Rejects with `stopped` after `stop`; a stop during the start ends it
   * early, and it resolves in the state `stopping`.
   */
  start(): Promise<void>;
  /**
   * Answers new deliveries 503, lets running handlers end for `timeoutMs`, aborts the rest and closes the store. What
   * was not done runs after the next start, of another receiver: this one cannot start again. Called again, it is the
   * same stop. Throws `invalid_option` for a `timeoutMs` that is not a whole number. Rejects when the store cannot be
   * closed properly.
   */
  stop(options?: StopOptions): Promise<void>;

  /**
   * Works off what is due, work of handlers and contact events, and resolves with what was done: for hosts whose
   * processes do not last, with the role `accept` and a scheduler. In the other roles handlers run all the time; there
   * it waits until nothing is due. Called again meanwhile, it is the same drain. Throws `invalid_option` for a
   * `timeoutMs` that is not a whole number; rejects with `stopped` unless the receiver runs, or as the store does.
   */
  drain(options?: DrainOptions): Promise<DrainResult>;

  /**
   * Figures for dashboards and health checks. Resolves in every state: before the start with zeros, after the stop with
   * the last figures (see `countedAt`). Rejects only while the receiver runs and its store does not answer
   * (`store_busy`, `store_failed`); `state` alone never fails.
   */
  stats(): Promise<ReceiverStats>;
  /**
   * Lists, retries and discards stored events. Its methods reject with `stopped` before the start and after the stop.
   */
  readonly inbox: Inbox;
  /**
   * Brings events into the inbox that the service failed to deliver: it reads the endpoint's delivery log through the
   * option `api`, has those replayed that the inbox lacks, and waits for them. It can be ended at any moment and called
   * again. Rejects with `api_not_configured`, `stopped` before the start and after the stop, `invalid_option`,
   * `invalid_argument` for a `since` from which on the inbox does not have all ids, or as the API calls do.
   */
  repair(options: RepairOptions): Promise<RepairReport>;
  /** Contact events outside of handlers. Its methods reject with `stopped` before the start and after the stop. */
  readonly contactEvents: ContactEvents;
}
