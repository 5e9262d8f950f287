import { DAY, type Duration, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import {
  type Changes,
  type OptionsOf,
  type Resolved,
  callable,
  defineOptions,
  duration,
  flag,
  given,
  oneOf,
  requiredWholeNumber,
  wholeNumber,
} from "../base/options.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { ContactEventRecorder } from "../outbox/contact-event-record.js";
import type { AnyEvent } from "../protocol/event.js";
import { inboxIdOf, sourceNameOf } from "../protocol/inbox-id.js";
import type { CommitFunction, CommitTransaction } from "../store/commit-transaction.js";
import type { NewestKey } from "../store/work.js";
import type { RetryPolicy } from "./retry-policy.js";

/** How often a handler may run. */
export interface RunRate {
  /** Most runs in any span, retries included; 1 or more. */
  runs: number;
  /** The span, from 1 s to 1 day: milliseconds, or a text such as `"1s"`. */
  per: Duration;
}

/** The defaults and checks of {@link RunRate}. */
export const RATE_OPTIONS = defineOptions("rate", {
  runs: requiredWholeNumber({ min: 1 }),
  per: duration({ min: SECOND, max: DAY }),
} satisfies OptionsOf<RunRate>);

/** The same, with the span in milliseconds. */
export type Rate = Resolved<typeof RATE_OPTIONS>;

/** How late a run may begin, in milliseconds, where the process was busy; runs are further apart for that. */
export const slackOf = ({ per }: Rate): number => Math.min(per / 20, SECOND);

/** Runs may wait for so long in a process, in milliseconds. */
const SOON_MS = SECOND / 4;

/**
 * The time from one run to the next, in milliseconds: no span has more runs than it may, also when the first of them
 * begins late.
 */
export const gapOf = (rate: Rate): number => (rate.per + slackOf(rate)) / rate.runs;

/** How many of the runs begin soon, at least one. */
export const runsSoon = (rate: Rate): number => Math.max(1, Math.floor(SOON_MS / gapOf(rate)));

/** Each option of a handler. */
export interface HandlerSettings<Event = AnyEvent> {
  /**
   * Names the handler in the inbox. The done mark belongs to the name: another name is another handler, which
   * `inbox.plan` gives earlier events. @default the event types it was registered for
   */
  name?: string | undefined;
  /** Most runs of this handler at once. @default the receiver's `concurrency`; half of it beside other handlers */
  concurrency?: number | undefined;
  /**
   * Events of one source with the same key never run at once in this handler. Their order is not guaranteed: an older
   * event may run after a newer one.
   */
  key?: ((event: Event) => string | undefined) | undefined;
  /**
   * Only the newest event of a `key` counts, by `createdAt`: docs/handlers.md#only-the-newest.
   *
   * @default every event runs
   */
  only?: "newest" | undefined;
  /**
   * Most runs of this handler in any span of time, in all processes of the store together: docs/handlers.md#rates.
   *
   * @default no limit
   */
  rate?: RunRate | undefined;
  /**
   * A run that takes longer is aborted through `ctx.signal` and counts as failed; in milliseconds. A handler that
   * ignores the signal goes on beside its next run, and its place is free for others. @default 60,000
   */
  timeoutMs?: number | undefined;
  /** Changes to the receiver's retry policy. @default the receiver's `retry` */
  retry?: Changes<RetryPolicy> | undefined;
  /** Also called for the service's synthetic test deliveries. @default false */
  testEvents?: boolean | undefined;
}

/** How one handler runs. Without a key, no event is newer than another. */
export type HandlerOptions<Event = AnyEvent> = HandlerSettings<Event> &
  ({ only?: undefined } | { only: "newest"; key: object });

/** The defaults and checks of {@link HandlerOptions}. */
export const HANDLER_OPTIONS = defineOptions("on", {
  name: given<string>(),
  concurrency: wholeNumber({ min: 1 }),
  // No function would throw for each event, and all of them would run without a key.
  key: callable<(event: AnyEvent) => string | undefined>(),
  only: oneOf(["newest"]),
  rate: {
    read: (option: string, rate?: RunRate): Rate | undefined =>
      rate === undefined ? undefined : RATE_OPTIONS.resolve(rate, { place: option, prefix: `${option}.` }),
  },
  timeoutMs: wholeNumber({ default: MINUTE, min: 1 }),
  retry: given<Changes<RetryPolicy>>(),
  testEvents: flag({ default: false }),
} satisfies OptionsOf<HandlerSettings>);

/** How the event was received. */
export interface DeliveryInfo {
  /** Name of the source whose secret signed it; empty where the option `secrets` has no names. */
  readonly source: string;
  /** The event's id in the inbox, unique among all sources: `acme/evt_1` of the source `acme`. */
  readonly inboxId: string;
  /** When the whole body was received, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  readonly signedAt: number;
  /** Exact received bytes. */
  readonly rawBody: Uint8Array;
}

/** What a handler gets besides the event. `Tx` is what the receiver's store passes to the function of `commit`. */
export interface HandlerContext<Tx = CommitTransaction> {
  /**
   * 1 for the first run of this handler on this event. A run under which the store failed does not count, except each
   * third in a row.
   */
  readonly attempt: number;
  /** From which source the event is, when it was received and signed, and its exact bytes. */
  readonly delivery: DeliveryInfo;
  /** Aborted at `timeoutMs`, when the receiver stops, and when the lease is lost. Pass it to `fetch`. */
  readonly signal: AbortSignal;
  /** Logger with the event's id and type, the handler's name and the attempt. */
  readonly log: Logger;
  /** A key that is the same in every run of this handler on this event; one per label. Fits the service's rules. */
  readonly idempotencyKey: (label: string) => string;
  /**
   * Runs `fn` once per event and handler: a later attempt gets the value kept from the first success. The value must
   * survive JSON and have at most 64 K characters. `fn` may run again when the process dies before its value is kept.
   * Rejects with what `fn` throws, `invalid_argument` for a name that is not a string of at most 500 characters,
   * `duplicate_step`, `step_not_json`, `lease_lost`, or what the store fails with, such as `store_unreachable`: the run
   * then does not count, whatever the handler throws, and the work runs again when the store answers. Each third run
   * in a row under which the store failed counts.
   */
  readonly step: <Value>(name: string, fn: () => Value | Promise<Value>) => Promise<Value>;
  /** Contact events, sent later exactly once. Needs the receiver's `api`. */
  readonly contactEvents: ContactEventRecorder;
  /**
   * The client of the option `api`. Its calls take effect at once, also when the run fails. Give
   * `contactEvents.send` and `contactEvents.sendBatch` a key: `{ idempotencyKey: ctx.idempotencyKey("welcome") }`. The
   * API has none for other calls. Make them in a `step`, which looks first for what an earlier run has made:
   * docs/handlers.md#calls-without-an-idempotency-key. Throws `api_not_configured` where there is none. A call waits
   * for a Retry-After of up to 5 s; a longer one rejects it.
   */
  readonly api: Client;
  /**
   * Runs `fn` and marks the work done in one transaction: both or neither, also after a crash. Call it last and return
   * its promise. `fn` is called again when SQL of another handler ended their common transaction, so it should only
   * write. Rejects with what `fn` throws, `commit_async`, `transaction_ended`, `lease_lost`, or what the store fails
   * with, as `step` does.
   */
  readonly commit: <Result>(fn: CommitFunction<Result, Tx>) => Promise<void>;
}

/** The user's function. What it returns is ignored; what it throws decides about the next attempt. */
export type Handler<Event = AnyEvent, Tx = CommitTransaction> = (event: Event, ctx: HandlerContext<Tx>) => unknown;

/** When a batch begins. */
export interface Batching {
  /** Most events. */
  max: number;
  /** How long it waits for more of them, in milliseconds. */
  waitMs: number;
}

/** A handler with its options filled in. */
export interface RegisteredHandler {
  name: string;
  patterns: readonly string[];
  /** What was registered: takes one event, or those of a batch, and their context. */
  run: (given: AnyEvent | readonly AnyEvent[], context: unknown) => unknown;
  /** Undefined for a handler of single events. */
  batch: Batching | undefined;
  /** Most runs at once. */
  concurrency: number;
  key: ((event: AnyEvent) => string | undefined) | undefined;
  only: "newest" | undefined;
  rate: Rate | undefined;
  timeoutMs: number;
  retry: RetryPolicy;
  testEvents: boolean;
}

/**
 * The event's key, which is that of no other source, and by what the newest event of it is found, where only that one
 * runs. A key function that throws must not lose the event: it has no key then. The function may be of JavaScript and
 * return anything.
 */
export function readKey(
  { name, key, only }: RegisteredHandler,
  { event, inboxId, logger }: { event: AnyEvent; inboxId: string; logger: Logger | undefined },
): { key?: string | undefined; newest?: NewestKey | undefined } {
  try {
    const given = key?.(event) as string | number | null | undefined;
    if (given === undefined || given === null) return {};
    const own = inboxIdOf(sourceNameOf(inboxId), String(given));
    // The time has been checked; one that the engine does not read would refuse the whole event.
    return { key: own, newest: only && { key: own, createdAt: Date.parse(event.createdAt) || 0 } };
  } catch (error) {
    logger?.error({ handler: name, ...errorFields(error, false) }, "handler_queue_failed");
    return {};
  }
}
