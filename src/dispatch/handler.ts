import { MINUTE } from "../base/duration.js";
import { type Changes, type OptionsOf, callable, defineOptions, flag, given, wholeNumber } from "../base/options.js";
import type { AnyEvent } from "../protocol/event.js";
import type { CommitTransaction } from "../store/commit-transaction.js";
import type { HandlerContext } from "./context.js";
import type { RetryPolicy } from "./retry-policy.js";

/** How one handler runs. */
export interface HandlerOptions<Event = AnyEvent> {
  /**
   * Names the handler in the inbox. The done mark belongs to the name: another name is another handler, and gets events
   * that the old one has done only when they are retried. @default the event types it was registered for
   */
  name?: string | undefined;
  /** Most runs of this handler at once. @default the receiver's `concurrency`; half of it beside other handlers */
  concurrency?: number | undefined;
  /** Events with the same key never run at once in this handler. Their order is not guaranteed. */
  key?: ((event: Event) => string | undefined) | undefined;
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

/** The defaults and checks of {@link HandlerOptions}. */
export const HANDLER_OPTIONS = defineOptions("on", {
  name: given<string>(),
  concurrency: wholeNumber({ min: 1 }),
  // No function would throw for each event, and all of them would run without a key.
  key: callable<(event: AnyEvent) => string | undefined>(),
  timeoutMs: wholeNumber({ default: MINUTE, min: 1 }),
  retry: given<Changes<RetryPolicy>>(),
  testEvents: flag({ default: false }),
} satisfies OptionsOf<HandlerOptions>);

/** The user's function. What it returns is ignored; what it throws decides about the next attempt. */
export type Handler<Event = AnyEvent, Tx = CommitTransaction> = (event: Event, ctx: HandlerContext<Tx>) => unknown;

/** A handler with its options filled in. */
export interface RegisteredHandler {
  name: string;
  patterns: readonly string[];
  run: Handler<AnyEvent, unknown>;
  /** Most runs at once. */
  concurrency: number;
  key: ((event: AnyEvent) => string | undefined) | undefined;
  timeoutMs: number;
  retry: RetryPolicy;
  testEvents: boolean;
}
