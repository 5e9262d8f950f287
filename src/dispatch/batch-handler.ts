import { type Duration, MINUTE } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type Changes, type OptionsOf, defineOptions, duration, wholeNumber } from "../base/options.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { AnyEvent } from "../protocol/event.js";
import type { CommitFunction, CommitTransaction } from "../store/commit-transaction.js";
import { HANDLER_OPTIONS, type HandlerContext, type RunRate } from "./handler.js";
import type { RetryPolicy } from "./retry-policy.js";
import type { RunContext, RunContexts } from "./run-context.js";

const MAX_EVENTS = 1_000;

/** How a handler of batches runs. */
export interface BatchOptions {
  /** Names the handler in the inbox, as in `on`. @default the event types it was registered for */
  name?: string | undefined;
  /** Most events of a batch, which begins at once when it has so many. @default 100 */
  max?: number | undefined;
  /** How long a batch waits for more events, from its first one on. @default "500ms" */
  wait?: Duration | undefined;
  /** Most batches at once. @default 1 */
  concurrency?: number | undefined;
  /** Most batches in any span of time, as in `on`. @default no limit */
  rate?: RunRate | undefined;
  /** A batch that takes longer is aborted and failed; in milliseconds. @default 60,000 */
  timeoutMs?: number | undefined;
  /** Changes to the receiver's retry policy. @default the receiver's `retry` */
  retry?: Changes<RetryPolicy> | undefined;
  /** Also called for the service's synthetic test deliveries. @default false */
  testEvents?: boolean | undefined;
}

const { name, rate, timeoutMs, retry, testEvents } = HANDLER_OPTIONS.rows;

/** The defaults and checks of {@link BatchOptions}. */
export const BATCH_OPTIONS = defineOptions("onBatch", {
  name,
  max: wholeNumber({ default: 100, min: 1, max: MAX_EVENTS }),
  wait: duration({ default: "500ms", min: 1, max: MINUTE }),
  concurrency: wholeNumber({ default: 1, min: 1 }),
  rate,
  timeoutMs,
  retry,
  testEvents,
} satisfies OptionsOf<BatchOptions>);

/** What the context of a single event has, for one event of a batch. */
export type EventContext = Pick<HandlerContext, "attempt" | "delivery" | "idempotencyKey" | "contactEvents">;

/** What a handler of batches gets besides the events. */
export interface BatchContext<Tx = CommitTransaction> {
  /** Aborted at `timeoutMs`, when the receiver stops, and when a lease of the batch is lost. */
  readonly signal: AbortSignal;
  /** Logger with the handler's name and the number of events. */
  readonly log: Logger;
  /** The client of the option `api`; as in a handler of `on`. */
  readonly api: Client;
  /** What belongs to one event. Throws `invalid_argument` for an object that is not in the batch. */
  readonly of: (event: AnyEvent) => EventContext;
  /**
   * Fails this event alone, with what a handler of `on` would throw. The others go on. Throws `invalid_argument` for an
   * object that is not in the batch, and after `commit`; `run_ended` after the run.
   */
  readonly fail: (event: AnyEvent, error: unknown) => void;
  /**
   * Runs `fn` and marks all events done that have not failed, in one transaction: all or none, also after a crash. As
   * in a handler of `on`; rejects with `lease_lost` where one of the leases is: then no event is done. `fn` is not
   * called when all events have failed.
   */
  readonly commit: <Result>(fn: CommitFunction<Result, Tx>) => Promise<void>;
}

/** The user's function. What it throws fails all events of the batch, at least one. */
export type BatchHandler<Event = AnyEvent, Tx = CommitTransaction> = (
  events: readonly Event[],
  ctx: BatchContext<Tx>,
) => unknown;

/**
 * The context of a run of a handler of batches. Each event has a context of its own, which records and is settled by
 * itself; what the batch does as one, that of its first event does.
 */
export class BatchRun implements BatchContext<unknown> {
  readonly #events: readonly AnyEvent[];
  readonly #contexts: RunContexts;
  readonly #logger: Logger;
  #log: Logger | undefined;

  constructor(events: readonly AnyEvent[], contexts: RunContexts, logger: Logger) {
    this.#events = events;
    this.#contexts = contexts;
    this.#logger = logger;
  }

  get signal(): AbortSignal {
    return this.#contexts[0].signal;
  }

  get api(): Client {
    return this.#contexts[0].api;
  }

  get log(): Logger {
    const { handler } = this.#contexts[0].work;
    return (this.#log ??= this.#logger.child({ handler, events: this.#events.length }));
  }

  readonly of = (event: AnyEvent): RunContext => {
    const context = this.#contexts[this.#events.indexOf(event)];
    if (context !== undefined) return context;
    throw new PigeonholeError("invalid_argument", "The event is not in this batch. Pass the object itself, no copy.");
  };

  readonly fail = (event: AnyEvent, error: unknown): void => {
    const context = this.of(event);
    if (context.isOver) throw new PigeonholeError("run_ended", "ctx.fail was called after the run had ended.");
    if (context.pendingCommit !== undefined) {
      throw new PigeonholeError("invalid_argument", "Call ctx.fail before ctx.commit, which marks the others done.");
    }
    context.failure = { error };
  };

  readonly commit = (fn: (tx: unknown) => unknown): Promise<void> => {
    const good = this.#contexts.filter(({ failure }) => failure === undefined);
    const committed = good.length === 0 ? Promise.resolve() : this.#contexts[0].commitAll(fn, good);
    // What they would record from now on would not be stored.
    for (const context of this.#contexts) context.pendingCommit ??= committed;
    return committed;
  };
}
