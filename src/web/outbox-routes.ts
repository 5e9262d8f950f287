import { type BodyFields, requireField } from "./body-fields.js";
import { MAX_CHOSEN } from "./api/work.js";
import { discardEachContactEvent, retryEachContactEvent, type InboxChanges } from "../operator/change-each.js";
import { CONTACT_EVENT_FILTERS } from "../store/filters.js";
import { filtersIn, givenIn, listPageOf } from "./page-of-query.js";
import { PageApiError } from "./page-api-error.js";
import type { OutboxPage, OutboxQuery } from "../store/outbox.js";
import { CONTACT_EVENT_STATES } from "../store/state-words.js";
import type { ActionLog } from "./action-log.js";
import type { WholeContactEvent, ListedContactEventPage, ListedContactEvent } from "./api/contact-events.js";
import type { PayloadAccess } from "./api/session.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { InboxCall, InboxRoute } from "./inbox-route.js";
import type { PersonalData } from "./personal-data.js";

import { showContactEvents, type ContactEventShowTools } from "./shown-contact-events.js";
import type { SharedReadings } from "./shared-readings.js";
import { seqCursor } from "../store/list-windows.js";
import { type RowPage, findShown, holdsText } from "./find-shown.js";

/** What the routes of the outbox work with. */
export interface OutboxRouteTools {
  operator: () => InboxOperator;
  readings: Pick<SharedReadings, "listContactEvents">;
  personal: PersonalData;
  log: ActionLog;
}

/** Contact events: lists with what the API answered, and retries of those that it refused. */
export function outboxRoutes({ operator, readings, personal, log }: OutboxRouteTools): InboxRoute[] {
  const changeContactEvents = async (
    { body, person }: InboxCall,
    action: "retry_contact_events" | "discard_contact_events",
    change: typeof retryEachContactEvent,
  ): Promise<InboxChanges> => {
    const shown = readContactEventKeys(body);
    const keys = shown.flatMap((each) => personal.contactEventKey(each, person.payloads) ?? []);
    log.note(person, action, { contactEvents: shown.length });
    const changes = await change(operator(), keys);
    return { ...changes, failed: changes.failed + shown.length - keys.length };
  };
  return [
    {
      method: "GET",
      path: "/api/outbox",
      needs: "read",
      quotes: true,
      handle: (call) => listOutbox({ operator, readings, personal }, call),
    },
    {
      method: "GET",
      path: "/api/outbox/{id}",
      needs: "read",
      quotes: true,
      async handle({ id, person: { payloads } }): Promise<WholeContactEvent> {
        const key = personal.contactEventKey(id, payloads);
        const view = key === undefined ? undefined : await operator().getContactEvent(key);
        const views = view === undefined ? [] : [view];
        const [row] = await showContactEvents({ operator, personal }, views, payloads);
        if (view === undefined || row === undefined)
          throw new PageApiError(404, { code: "not_found", message: "There is no contact event with this key." });
        return { ...row, body: personal.contactEventBody(view.body, payloads) };
      },
    },
    {
      method: "POST",
      path: "/api/outbox/retry",
      needs: "operate",
      handle: (call) => changeContactEvents(call, "retry_contact_events", retryEachContactEvent),
    },
    {
      method: "POST",
      path: "/api/outbox/discard",
      needs: "operate",
      handle: (call) => changeContactEvents(call, "discard_contact_events", discardEachContactEvent),
    },
  ];
}

/** Of a key, with its label. */
const MAX_KEY_LENGTH = 300;

/** Keys of contact events in a body. */
function readContactEventKeys(body: BodyFields): string[] {
  return requireField("ids", body.texts("ids", { most: MAX_CHOSEN, longest: MAX_KEY_LENGTH }));
}

async function listOutbox(
  { operator, readings, personal }: Omit<OutboxRouteTools, "log">,
  { query, person: { payloads } }: InboxCall,
): Promise<ListedContactEventPage> {
  const { error, ...filters } = filtersIn(query, CONTACT_EVENT_FILTERS);
  const wanted = {
    ...listPageOf(query, CONTACT_EVENT_STATES),
    ...filters,
    error: payloads === "full" ? error : undefined,
  };
  const text = givenIn(query, "text")?.trim() ?? "";
  if (text !== "" || (error !== undefined && payloads !== "full")) {
    const search = { query: wanted, error, text, rule: payloads };
    const found = await searchContactEvents({ operator, personal }, search);
    return { items: found.items, nextCursor: found.nextCursor };
  }
  const { items, nextCursor } = await readings.listContactEvents(wanted);
  const rows = await showContactEvents({ operator, personal }, items, payloads);
  return { items: rows, nextCursor };
}

/** What is looked for, and for whom. */
interface ContactEventSearch {
  query: OutboxQuery;
  /** In what is shown of the answer of the API. */
  error: string | undefined;
  /** In what is shown of a contact event; empty for any. */
  text: string;
  rule: PayloadAccess;
}

/** A page of the contact events that are found, newest first. It may be short, or empty, with a cursor. */
function searchContactEvents(
  { operator, personal }: ContactEventShowTools,
  { query, error, text, rule }: ContactEventSearch,
): Promise<RowPage<ListedContactEvent>> {
  const isFound = (row: ListedContactEvent): boolean => {
    const answer = [row.reason, row.code, row.param, row.message, row.error];
    // The store has looked for errors that are shown as they are.
    const hasError = error === undefined || rule === "full" || holdsText(answer, error);
    return hasError && holdsText([row.key, row.idempotencyKey, row.name, row.contact, ...answer], text);
  };
  const once = readOnce(operator);
  return findShown({
    list: async (page) => {
      const { items, nextCursor } = await operator().listContactEvents({ ...query, ...page });
      return { items, nextCursor, cursors: items.map(seqCursor) };
    },
    cursor: query.cursor,
    look: async (view) => {
      const [row] = await showContactEvents({ operator: once, personal }, [view], rule);
      return row !== undefined && isFound(row) ? row : undefined;
    },
  });
}

/** Reads what all rows of a search wait for with the first of them. */
function readOnce(operator: ContactEventShowTools["operator"]): ContactEventShowTools["operator"] {
  let page: Promise<OutboxPage> | undefined;
  const listContactEvents = (query?: OutboxQuery) => (page ??= operator().listContactEvents(query));
  return () => ({ listContactEvents });
}
