import { discardEachContactEvent, retryEachContactEvent } from "../dev/api/change-each.js";
import { findRows, textOfContactEvent } from "../dev/api/find-rows.js";
import { contactEventRow } from "../dev/api/inbox-rows.js";
import { momentOf, listPageOf } from "../dev/api/page-of-query.js";
import type { ContactEventDetail, ContactEventPage, InboxChanges } from "../dev/api/page-api.js";
import { PageApiError } from "../dev/api/page-api-error.js";
import { OUTBOX_STATES } from "../store/outbox.js";
import type { ActionLog } from "./action-log.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import type { PersonalData } from "./personal-data.js";
import { readContactEventKeys } from "./job-choice.js";

/** What the routes of the outbox work with. */
export interface OutboxRouteTools {
  operator: () => InboxOperator;
  personal: PersonalData;
  log: ActionLog;
}

/** Contact events: lists with what the API answered, and retries of those that it refused. */
export function outboxRoutes({ operator, personal, log }: OutboxRouteTools): DashboardRoute[] {
  return [
    {
      method: "GET",
      path: "/api/outbox",
      needs: "read",
      handle: (call) => listOutbox({ operator, personal }, call),
    },
    {
      method: "GET",
      path: "/api/outbox/{id}",
      needs: "read",
      async handle({ id: key, person: { payloads } }): Promise<ContactEventDetail> {
        const view = await operator().getContactEvent(key);
        if (view === undefined)
          throw new PageApiError(404, { code: "not_found", message: "There is no contact event with this key." });
        const row = personal.contactEvent(contactEventRow(view), payloads);
        return { ...row, body: personal.contactEventBody(view.body, payloads) };
      },
    },
    {
      method: "POST",
      path: "/api/outbox/retry",
      needs: "operate",
      handle({ body, person }): Promise<InboxChanges> {
        const keys = readContactEventKeys(body);
        log.note(person, "retry_contact_events", { contactEvents: keys.length });
        return retryEachContactEvent(operator(), keys);
      },
    },
    {
      method: "POST",
      path: "/api/outbox/discard",
      needs: "operate",
      handle({ body, person }): Promise<InboxChanges> {
        const keys = readContactEventKeys(body);
        log.note(person, "discard_contact_events", { contactEvents: keys.length });
        return discardEachContactEvent(operator(), keys);
      },
    },
  ];
}

async function listOutbox(
  { operator, personal }: Pick<OutboxRouteTools, "operator" | "personal">,
  { query, person: { payloads } }: DashboardCall,
): Promise<ContactEventPage> {
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const wanted = {
    ...listPageOf(query, OUTBOX_STATES),
    name: given("name"),
    error: given("error"),
    inboxEventId: given("event"),
    since: momentOf(query, "since"),
    until: momentOf(query, "until"),
  };
  const { items, nextCursor } = await findRows({
    list: (page) => operator().listContactEvents({ ...wanted, ...page }),
    cursor: wanted.cursor,
    text: query.get("text") ?? "",
    // What is not shown must not be found out by searching for it.
    textOf: (view) => textOfContactEvent(view).map((text) => personal.text(text, payloads)),
  });
  const rows = items.map((view) => personal.contactEvent(contactEventRow(view), payloads));
  return { items: rows, nextCursor: nextCursor ?? null };
}
