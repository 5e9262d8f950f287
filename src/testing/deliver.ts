import { setTimeout as sleep } from "node:timers/promises";
import { PigeonholeError } from "../base/error.js";
import { SECOND } from "../base/duration.js";
import { type OptionsOf, defineOptions, given, wholeNumber } from "../base/options.js";
import { OUTCOME_HEADER, type OutcomeKind } from "../protocol/outcome.js";
import { signHere } from "../protocol/sign-here.js";
import type { Receiver } from "../receiver/receiver.js";
import type { EventView, HandlerView } from "../store/inbox-view.js";

/** A well-formed secret for tests; give it to the receiver under test. */
export const TEST_SECRET = `whsec_${"pigeonhole".repeat(4)}abc`;

/** The result of a delivery and of each handler's first run on it. */
export interface Delivered {
  /** HTTP status of the answer that the service would receive. */
  status: number;
  /** What the receiver made of it; see docs/answers-and-guarantees.md. */
  outcome: OutcomeKind;
  /** The event in the inbox; undefined if it was not stored. */
  event: EventView | undefined;
  /** Each handler with its state: `done`, `pending` (failed or waits, runs later), `dead`, `parked`. */
  handlers: HandlerView[];
}

/** How `deliver` signs and sends an event. */
export interface DeliverOptions {
  /** The receiver's secret. @default TEST_SECRET */
  secret?: string | undefined;
  /**
   * Time of signing in milliseconds since 1970; use the fake clock's time if the receiver has one. @default Date.now()
   */
  timestamp?: number | undefined;
  /** Longest wait for the handlers, in milliseconds of real time. @default 5,000 */
  timeoutMs?: number | undefined;
}

/** The defaults and checks of {@link DeliverOptions}. */
export const DELIVER_OPTIONS = defineOptions("deliver", {
  secret: given({ default: TEST_SECRET }),
  timestamp: given<number>(),
  timeoutMs: wholeNumber({ default: 5 * SECOND, min: 0 }),
} satisfies OptionsOf<DeliverOptions>);

const POLL_INTERVAL_MS = 5;

/**
 * Signs an event, delivers it as the service would, and waits until every handler for it has run once, or is held by
 * RetryAfter. Starts the receiver if needed. Rejects with `handler_timeout` when a handler takes longer than
 * `timeoutMs`.
 *
 * @example
 * const { handlers } = await deliver(receiver, sampleEvent("email.bounced"));
 * expect(handlers[0]?.state).toBe("done");
 */
export async function deliver(
  receiver: Pick<Receiver, "start" | "fetch" | "inbox">,
  event: { id: string; type: string },
  options: DeliverOptions = {},
): Promise<Delivered> {
  const { secret, timestamp = Date.now(), timeoutMs } = DELIVER_OPTIONS.resolve(options);
  await receiver.start();
  const body = JSON.stringify(event);
  const headers = signHere({ body, secret, timestamp });
  const response = await receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body, headers }));
  const outcome = response.headers.get(OUTCOME_HEADER) as OutcomeKind;
  const stored = response.ok ? await waitForHandlers(receiver, event.id, timeoutMs) : undefined;
  return { status: response.status, outcome, event: stored, handlers: stored?.handlers ?? [] };
}

async function waitForHandlers(
  { inbox }: Pick<Receiver, "inbox">,
  id: string,
  timeoutMs: number,
): Promise<EventView | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const event = await inbox.get(id);
    const unfinished = event?.handlers.find(isUnfinished);
    if (unfinished === undefined) return event;
    if (performance.now() > deadline) {
      const text = `Handler "${unfinished.handler}" has not finished event "${id}" within ${timeoutMs} ms.`;
      throw new PigeonholeError("handler_timeout", text);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

function isUnfinished({ state, attempts, waitsFor }: HandlerView): boolean {
  return state === "running" || (state === "pending" && attempts === 0 && waitsFor !== "retry_after");
}
