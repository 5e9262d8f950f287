import { discardEachContactEvent, retryEachContactEvent } from "../dev/api/change-each.js";
import type { RowPage } from "../dev/api/find-rows.js";
import { givenIn, momentOf, listPageOf } from "../dev/api/page-of-query.js";
import type { InboxChanges } from "../dev/api/page-api.js";
import { PageApiError } from "../dev/api/page-api-error.js";
import { OUTBOX_STATES, type OutboxQuery } from "../store/outbox.js";
import type { ActionLog } from "./action-log.js";
import type {
  DashboardContactEvent,
  DashboardContactEventDetail,
  DashboardContactEventPage,
} from "./api/contact-events.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import { findShown, holdsText } from "./find-shown.js";
import type { TextGlance } from "./text-glance.js";
import type { PersonalData } from "./personal-data.js";
import type { QuoteHider } from "./quote-hider.js";
import { readContactEventKeys } from "./job-choice.js";
import { showContactEvents } from "./shown-contact-events.js";
import type { SharedReadings } from "./shared-readings.js";

/** What the routes of the outbox work with. */
export interface OutboxRouteTools {
  operator: () => InboxOperator;
  readings: Pick<SharedReadings, "listContactEvents">;
  personal: PersonalData;
  quotes: QuoteHider;
  log: ActionLog;
}

/** Contact events: lists with what the API answered, and retries of those that it refused. */
export function outboxRoutes({ operator, readings, personal, quotes, log }: OutboxRouteTools): DashboardRoute[] {
  const changeContactEvents = async (
    { body, person }: DashboardCall,
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
      handle: (call) => listOutbox({ operator, readings, personal, quotes }, call),
    },
    {
      method: "GET",
      path: "/api/outbox/{id}",
      needs: "read",
      quotes: true,
      async handle({ id, person: { payloads }, signal }): Promise<DashboardContactEventDetail> {
        const glance = quotes.glance();
        const key = personal.contactEventKey(id, payloads);
        const view = key === undefined ? undefined : await operator().getContactEvent(key);
        const views = view === undefined ? [] : [view];
        const [row] = await showContactEvents({ operator, quotes }, views, { rule: payloads, signal, glance });
        if (view === undefined || row === undefined)
          throw new PageApiError(404, { code: "not_found", message: "There is no contact event with this key." });
        return { ...row, body: personal.contactEventBody(view.body, payloads), ...glance.state };
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

async function listOutbox(
  { operator, readings, quotes }: Omit<OutboxRouteTools, "log">,
  { query, person: { payloads }, signal }: DashboardCall,
): Promise<DashboardContactEventPage> {
  const glance = quotes.glance();
  const error = givenIn(query, "error");
  const wanted = {
    ...listPageOf(query, OUTBOX_STATES),
    name: givenIn(query, "name"),
    error: payloads === "full" ? error : undefined,
    inboxEventId: givenIn(query, "event"),
    since: momentOf(query, "since"),
    until: momentOf(query, "until"),
  };
  const list = async (
    page: OutboxQuery,
    { source = operator(), glance }: { source?: Pick<InboxOperator, "listContactEvents">; glance?: TextGlance } = {},
  ): Promise<RowPage<DashboardContactEvent>> => {
    const { items, nextCursor } = await source.listContactEvents({ ...wanted, ...page });
    const reader = { rule: payloads, signal, glance };
    return { items: await showContactEvents({ operator, quotes }, items, reader), nextCursor };
  };
  const text = givenIn(query, "text")?.trim() ?? "";
  const isFound = (row: DashboardContactEvent): boolean => {
    const answer = [row.reason, row.code, row.param, row.message, row.error];
    // The store has looked for errors that are shown as they are.
    const hasError = error === undefined || payloads === "full" || holdsText(answer, error);
    return hasError && holdsText([row.key, row.idempotencyKey, row.name, row.contact, ...answer], text);
  };
  const { items, nextCursor } =
    text === "" && (error === undefined || payloads === "full")
      ? await list({ cursor: wanted.cursor }, { source: readings, glance })
      : await findShown({ list, cursor: wanted.cursor, isFound });
  return { items, nextCursor: nextCursor ?? null, ...glance.state };
}
