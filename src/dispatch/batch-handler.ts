import { type Duration, MINUTE } from "../base/duration.js";
import { type Changes, type OptionsOf, defineOptions, duration, wholeNumber } from "../base/options.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { AnyEvent } from "../protocol/event.js";
import type { CommitFunction, CommitTransaction } from "../store/commit-transaction.js";
import { type FromOne, HANDLER_OPTIONS, type HandlerContext, type RunRate } from "./handler.js";
import type { RetryPolicy } from "./retry-policy.js";

const MAX_EVENTS = 1_000;

/** A whole number from 1 to 1,000, as far as the compiler knows it. */
export type BatchSize<Max extends number> = `${Max}` extends `${infer _}${infer _}${infer _}${infer _}${string}`
  ? Extract<Max, 1_000>
  : FromOne<Max>;

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
