import { discardEachContactEvent, retryEachContactEvent, type InboxChanges } from "../operator/change-each.js";
import { CONTACT_EVENT_FILTERS } from "../store/filters.js";
import { seqCursor } from "../store/list-windows.js";
import { CONTACT_EVENT_STATES } from "../store/state-words.js";
import type { ListedContactEvent, WholeContactEvent } from "./api/contact-events.js";
import { MAX_CHOSEN, type RowPage } from "./api/event.js";
import { type BodyFields, requireField } from "./body-fields.js";
import { findShown, holdsText } from "./find-shown.js";
import type { InboxTools } from "./inbox-tools.js";
import { PageApiError } from "./page-api-error.js";
import { filtersIn, givenIn, listPageOf } from "./page-of-query.js";
import { contactEventShower } from "./shown-contact-events.js";
import type { WebCall, WebRoute } from "./web-route.js";

/** Contact events: lists with what the API answered, and retries of those that it refused. */
export function outboxRoutes(tools: InboxTools): WebRoute[] {
  const { operator, personal, log } = tools;
  const changeContactEvents = async (
    { body, person }: WebCall,
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
    { at: "GET /api/outbox", quotes: true, handle: (call) => listOutbox(tools, call) },
    {
      at: "GET /api/outbox/{id}",
      quotes: true,
      async handle({ id, person: { payloads } }): Promise<WholeContactEvent> {
        const key = personal.contactEventKey(id, payloads);
        const view = key === undefined ? undefined : await operator().getContactEvent(key);
        if (view === undefined)
          throw new PageApiError(404, { code: "not_found", message: "There is no contact event with this key." });
        const row = await contactEventShower(tools, payloads)(view);
        return { ...row, body: personal.contactEventBody(view.body, payloads) };
      },
    },
    {
      at: "POST /api/outbox/retry",
      handle: (call) => changeContactEvents(call, "retry_contact_events", retryEachContactEvent),
    },
    {
      at: "POST /api/outbox/discard",
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

/** A page, newest first. Of a search it may be short, or empty, with a cursor. */
async function listOutbox(
  tools: InboxTools,
  { query, person: { payloads } }: WebCall,
): Promise<RowPage<ListedContactEvent>> {
  const { error, ...filters } = filtersIn(query, CONTACT_EVENT_FILTERS);
  const seesErrors = payloads === "full";
  const wanted = {
    ...listPageOf(query, CONTACT_EVENT_STATES),
    ...filters,
    error: seesErrors ? error : undefined,
  };
  const text = givenIn(query, "text")?.trim() ?? "";
  const show = contactEventShower(tools, payloads);
  if (text === "" && (error === undefined || seesErrors)) {
    const { items, nextCursor } = await tools.readings.listContactEvents(wanted);
    return { items: await Promise.all(items.map(show)), nextCursor };
  }
  const isFound = (row: ListedContactEvent): boolean => {
    const answer = [row.reason, row.code, row.param, row.message, row.error];
    // The store has looked for errors that are shown as they are.
    const hasError = error === undefined || seesErrors || holdsText(answer, error);
    return hasError && holdsText([row.key, row.idempotencyKey, row.name, row.contact, ...answer], text);
  };
  return findShown({
    list: async (page) => {
      const { items, nextCursor } = await tools.operator().listContactEvents({ ...wanted, ...page });
      return { items, nextCursor, cursors: items.map(seqCursor) };
    },
    cursor: wanted.cursor,
    look: async (view) => {
      const row = await show(view);
      return isFound(row) ? row : undefined;
    },
  });
}
