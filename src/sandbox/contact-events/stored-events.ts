import { waitingClock } from "../../base/clock.js";
import { DAY, SECOND } from "../../base/duration.js";
import { type OptionsOf, defineOptions, given } from "../../base/options.js";
import { foldAddress } from "../../contract/contact-address.js";
import type { Contract } from "../../contract/contract.js";
import type { QueryInput } from "../../contract/operation.js";
import { type PageBody, invalidCursor } from "../api/page-rows.js";
import { checkTimeout } from "../delivery/attempt-wait.js";
import type { EventWaiter } from "../delivery/event-waiter.js";

/** A stored event as it is sent. See docs/service.md#contact-event-results. */
export interface StoredEvent {
  /** The same for every stored event. */
  object: "contact_event";
  /** 24 hex digits. */
  id: string;
  /** Id of the contact. */
  contactId: string;
  /** The contact's address, trimmed and in lower case, however the event named it. */
  email: string;
  /** Name of the event, as sent. */
  name: string;
  /** As sent; empty when none were. */
  properties: Record<string, unknown>;
  /** When it happened, ISO 8601 in UTC: as sent, or the time of the call. */
  occurredAt: string;
  /** When it was stored, ISO 8601 in UTC. */
  createdAt: string;
  /** Mode of the key that sent it; one of mode `test` starts nothing (docs/service.md#automations). */
  mode: "live" | "test";
}

/** How long events and their idempotency keys are kept. See docs/service.md#event-names; for the keys it is assumed. */
export const EVENT_RETENTION_MS = 90 * DAY;

const MAX_NAMES = 100;

/** Which events of which contact, and when. */
interface ContactEventQuery extends QueryInput<Contract["contactEvents"]["list"]> {
  contactId: string;
  nowMs: number;
}

/** The stored events, in the order of recording. */
export class EventLog {
  #events: StoredEvent[] = [];

  get all(): readonly StoredEvent[] {
    return this.#events;
  }

  append(event: StoredEvent): void {
    this.#events.push(event);
  }

  /** Drops what was recorded more than 90 days ago. */
  prune(nowMs: number): void {
    const isOld = (event: StoredEvent): boolean => Date.parse(event.createdAt) < nowMs - EVENT_RETENTION_MS;
    // They were recorded in order, so the first one shows whether there is work.
    const [first] = this.#events;
    if (first === undefined || !isOld(first)) return;
    this.#events = this.#events.filter((event) => !isOld(event));
  }

  /**
   * Distinct names in byte order, at most 100. Names are ASCII, where code units are bytes. See
   * docs/service.md#event-names.
   */
  names(): string[] {
    return [...new Set(this.#events.map(({ name }) => name))].toSorted().slice(0, MAX_NAMES);
  }

  /**
   * A contact's events of the last 90 days, most recent first. See docs/service.md#events-of-a-contact; throws 400
   * `invalid_cursor`, also for a cursor that has become older than that.
   */
  page({ contactId, name, limit = 50, cursor, nowMs }: ContactEventQuery): PageBody<StoredEvent> {
    const rows = this.#events
      .filter((event) => event.contactId === contactId && (name === undefined || event.name === name))
      // Of two at one time, the one recorded later comes first; the sort is stable.
      .toReversed()
      .toSorted((a, b) => Date.parse(b.occurredAt) - Date.parse(a.occurredAt));
    const start = cursor === undefined ? 0 : rows.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0) throw invalidCursor();
    const following = rows
      .slice(start)
      .filter(({ occurredAt }) => Date.parse(occurredAt) >= nowMs - EVENT_RETENTION_MS);
    const data = following.slice(0, limit);
    const hasMore = data.length < following.length;
    return { object: "list", data, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null };
  }

  clear(): void {
    this.#events = [];
  }
}

/** The filter for a contact event to wait for. */
export interface ContactEventWait {
  /** Name of the event, compared exactly. @default any */
  name?: string | undefined;
  /** Address of the contact, compared without case. @default any */
  email?: string | undefined;
  /** Longest wait in milliseconds of real time. @default 10,000 */
  timeoutMs?: number | undefined;
}

/** The fields of {@link ContactEventWait}, with the default. */
export const CONTACT_EVENT_WAIT_OPTIONS = defineOptions("sandbox.waitForContactEvent", {
  name: given<string>(),
  email: given<string>(),
  timeoutMs: given({ default: 10 * SECOND }),
} satisfies OptionsOf<ContactEventWait>);

/**
 * The first of `stored` that matches, or the next one that arrives. These come from a receiver's own work, so the wait
 * takes real time. Rejects like the waiter.
 */
export async function waitForContactEvent(
  waiter: EventWaiter<StoredEvent>,
  stored: readonly StoredEvent[],
  wait: ContactEventWait,
): Promise<StoredEvent> {
  const { name, email, timeoutMs } = CONTACT_EVENT_WAIT_OPTIONS.resolve(wait);
  checkTimeout(timeoutMs);
  const fits = (event: StoredEvent): boolean =>
    (name === undefined || event.name === name) && (email === undefined || event.email === foldAddress(email));
  const text = `No such contact event within ${timeoutMs} ms; ${stored.length} were stored before.`;
  return waiter.wait({ stored, fits, timeoutMs, clock: waitingClock, timeoutText: () => text });
}
