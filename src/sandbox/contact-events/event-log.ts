import { DAY } from "../../base/duration.js";
import { invalidCursor } from "../api/cursor.js";
import type { PageBody } from "../api/page-rows.js";

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

/** What a list is selected by. */
type Listed = Pick<StoredEvent, "contactId" | "name" | "createdAt">;

/** The stored events, in the order of recording. */
export class EventLog {
  #events: StoredEvent[] = [];
  /** Dropped events by id, for as long again: a walk of a list may hold one as its cursor. */
  readonly #dropped = new Map<string, Listed>();

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
    for (const { id, contactId, name, createdAt } of this.#events.filter(isOld)) {
      this.#dropped.set(id, { contactId, name, createdAt });
    }
    this.#events = this.#events.filter((event) => !isOld(event));
    for (const [id, { createdAt }] of this.#dropped) {
      if (Date.parse(createdAt) < nowMs - 2 * EVENT_RETENTION_MS) this.#dropped.delete(id);
    }
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
   * `invalid_cursor`. A cursor that has become older than that ends the walk: all that follows it is older still.
   */
  page(query: {
    contactId: string;
    name?: string | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
    nowMs: number;
  }): PageBody<StoredEvent> {
    const { contactId, name, limit = 50, cursor, nowMs } = query;
    const isListed = (event: Listed): boolean =>
      event.contactId === contactId && (name === undefined || event.name === name);
    const rows = this.#events
      .filter(isListed)
      // Of two at one time, the one recorded later comes first; the sort is stable.
      .toReversed()
      .toSorted((a, b) => Date.parse(b.occurredAt) - Date.parse(a.occurredAt));
    const start = cursor === undefined ? 0 : rows.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0) {
      const dropped = this.#dropped.get(cursor);
      if (dropped === undefined || !isListed(dropped)) throw invalidCursor();
      return { object: "list", data: [], hasMore: false, nextCursor: null };
    }
    const following = rows
      .slice(start)
      .filter(({ occurredAt }) => Date.parse(occurredAt) >= nowMs - EVENT_RETENTION_MS);
    const data = following.slice(0, limit);
    const hasMore = data.length < following.length;
    return { object: "list", data, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null };
  }

  clear(): void {
    this.#events = [];
    this.#dropped.clear();
  }
}
