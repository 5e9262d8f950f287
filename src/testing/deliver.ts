import { setTimeout as sleep } from "node:timers/promises";
import { PigeonholeError } from "../base/error.js";
import { SECOND } from "../base/duration.js";
import { type OptionsOf, defineOptions, given, wholeNumber, type Changes } from "../base/options.js";
import { inboxIdOf } from "../protocol/inbox-id.js";
import { OUTCOME_HEADER, type OutcomeKind } from "../protocol/outcome.js";
import type { AnyEvent, OneOrMore, SchemaMap } from "../protocol/event.js";
import { signHere } from "../protocol/sign-here.js";
import { findParts } from "../receiver/receiver-parts.js";
import type { Receiver } from "../receiver/receiver.js";
import type { EventView, HandlerView } from "../store/inbox-view.js";
import { silentLogger } from "../base/logger.js";
import { createReceiver } from "../receiver/create-receiver.js";
import type { ReceiverOptions } from "../receiver/options.js";
import type { CommitTransaction } from "../store/commit-transaction.js";

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

type ReceiverUnderTest = Pick<Receiver, "start" | "fetch" | "inbox">;

type EventToDeliver = Pick<AnyEvent, "id" | "type">;

/**
 * Signs an event, or several, delivers them as the service would, and waits until every handler for them has run once,
 * or is held by RetryAfter. A batch begins with what was delivered. Starts the receiver if needed. Rejects with
 * `handler_timeout` when a handler takes longer than `timeoutMs`.
 *
 * @example
 * const { handlers } = await deliver(receiver, sampleEvent("email.bounced"));
 * expect(handlers[0]?.state).toBe("done");
 */
export async function deliver(
  receiver: ReceiverUnderTest,
  event: EventToDeliver,
  options?: DeliverOptions,
): Promise<Delivered>;
export async function deliver(
  receiver: ReceiverUnderTest,
  events: readonly EventToDeliver[],
  options?: DeliverOptions,
): Promise<Delivered[]>;
export async function deliver(
  receiver: ReceiverUnderTest,
  given: OneOrMore<EventToDeliver>,
  options: DeliverOptions = {},
): Promise<Delivered | Delivered[]> {
  const { secret, timestamp = Date.now(), timeoutMs } = DELIVER_OPTIONS.resolve(options);
  await receiver.start();
  const answers: { id: string; response: Response }[] = [];
  for (const event of [given].flat()) {
    const body = JSON.stringify(event);
    const headers = signHere({ body, secret, timestamp });
    const response = await receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body, headers }));
    const source = findParts(receiver)?.path.verification.secrets.sourceOf(secret) ?? "";
    answers.push({ id: inboxIdOf(source, event.id), response });
  }
  const delivered: Delivered[] = [];
  for (const { id, response } of answers) {
    const outcome = response.headers.get(OUTCOME_HEADER) as OutcomeKind;
    const stored = response.ok ? await waitForHandlers(receiver, id, timeoutMs) : undefined;
    delivered.push({ status: response.status, outcome, event: stored, handlers: stored?.handlers ?? [] });
  }
  const [first] = delivered;
  return Array.isArray(given) || first === undefined ? delivered : first;
}

async function waitForHandlers(
  receiver: ReceiverUnderTest,
  id: string,
  timeoutMs: number,
): Promise<EventView | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const event = await receiver.inbox.get(id);
    const unfinished = event?.handlers.find(isUnfinished);
    if (unfinished === undefined) return event;
    if (performance.now() > deadline) {
      const text = `Handler "${unfinished.handler}" has not finished event "${id}" within ${timeoutMs} ms.`;
      throw new PigeonholeError("handler_timeout", text);
    }
    await sleep(POLL_INTERVAL_MS);
    // A batch gets no more events than those, and a fake clock stands still.
    findParts(receiver)?.path.dispatcher.endWaits();
  }
}

function isUnfinished({ state, attempts, waitsFor }: HandlerView): boolean {
  return state === "running" || (state === "pending" && attempts === 0 && waitsFor !== "retry_after");
}

/**
 * A real receiver with an in-memory database, {@link TEST_SECRET} and no log. Options override these; a log has the
 * messages of handlers' errors.
 */
export function createTestReceiver<const Schemas extends SchemaMap = Record<never, never>, Tx = CommitTransaction>(
  options: Changes<ReceiverOptions<Schemas, Tx>> = {},
): Receiver<Schemas, Tx> {
  const { secrets = TEST_SECRET, store = ":memory:", logger = silentLogger, logErrorMessages = true } = options;
  return createReceiver<Schemas, Tx>({ ...options, secrets, store, logger, logErrorMessages });
}
