import { randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, given } from "../base/options.js";
import type { ContactEventInput } from "../contract/contact-event.js";
import { type RecordOptions, apiNotConfigured, toOutboxEvent, readRecordKey } from "./contact-event-record.js";
import { filterChecks } from "../operator/filter-reader.js";
import { CONTACT_EVENT_FILTERS } from "../store/filters.js";
import { pageLimit } from "../store/inbox-view.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { OutboxPage, OutboxQuery } from "../store/outbox.js";
import type { ContactEventState } from "../store/state-words.js";
import type { Store } from "../store/store.js";
import type { OutboxSender } from "./outbox-sender.js";

/** Contact events outside of handlers, and the outbox. */
export interface ContactEvents {
  /**
   * Stores a contact event to be sent exactly once; resolves when it is on disk, with the key for `retry` and `discard`
   * and with `isNew: false` if it was stored already. With `key`, a second call does not
   * make a second event for as long as ids are kept (`retention.idsMs`). Rejects with InvalidInputError, `key_conflict`
   * (the key stands for another event) or `api_not_configured`.
   */
  record(event: ContactEventInput, options?: RecordOptions): Promise<{ key: string; isNew: boolean }>;
  /** Contact events, newest first, a page at a time. */
  list(query?: OutboxQuery): Promise<OutboxPage>;
  /**
   * Sends a dead event again, or one whose call waits for its next try; false when no such event has that key, or its
   * call is due or under way. When it is not known whether its call arrived, the others of that call are sent with it,
   * under the same key and in the same order.
   */
  retry(key: string): Promise<boolean>;
  /** Discards an event that is dead, or that is not being sent yet; false otherwise. Its key stays in use. */
  discard(key: string): Promise<boolean>;
}

export interface ContactEventsDeps {
  store: Store<unknown>;
  operator: InboxOperator;
  clock: Clock;
  name: string;
  /** Undefined when no API is configured. */
  sender: OutboxSender | undefined;
}

/** The store checks the state and the cursor. */
export const OUTBOX_QUERY_OPTIONS = defineOptions("contactEvents.list", {
  state: given<ContactEventState>(),
  ...filterChecks(CONTACT_EVENT_FILTERS),
  limit: pageLimit,
  cursor: given<string | null>(),
} satisfies OptionsOf<OutboxQuery>);

export function createContactEvents(deps: ContactEventsDeps): ContactEvents {
  const { store, operator, clock, name, sender } = deps;
  return {
    async record(event, options) {
      const given = readRecordKey(options);
      const key = given === undefined ? randomUUID() : given;
      if (sender === undefined) {
        throw apiNotConfigured();
      }
      const now = clock.now();
      // No event id and no handler: those of handlers are never empty, so the two kinds of keys cannot collide.
      const owner = { receiver: name, eventId: "", handler: "" };
      const trace = sender.observer?.activeTrace;
      const prepared = toOutboxEvent(event, { owner, label: key, nowMs: now, defaultMs: now, trace });
      const result = await store.record(prepared, now);
      if (result === "conflict") {
        throw new PigeonholeError("key_conflict", `The key "${key}" already stands for another contact event.`);
      }
      sender.wake();
      return { key: prepared.key, isNew: result === "recorded" };
    },
    async list(query = {}) {
      return operator.listContactEvents(OUTBOX_QUERY_OPTIONS.resolve(query));
    },
    async retry(key) {
      const isRetried = (await operator.changeContactEvent("retry", key)) > 0;
      if (isRetried) sender?.poll();
      return isRetried;
    },
    discard: async (key) => (await operator.changeContactEvent("discard", key)) > 0,
  };
}
