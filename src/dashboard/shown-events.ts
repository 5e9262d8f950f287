import { setImmediate } from "node:timers/promises";
import { isoTime } from "../base/iso-time.js";
import type { RowPage } from "../dev/api/find-rows.js";
import { eventRow } from "../dev/api/inbox-rows.js";
import type { InboxHandler } from "../dev/api/page-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventQuery, EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { DashboardEvent, PayloadAccess } from "./dashboard-api.js";
import { holdsText } from "./find-shown.js";
import type { PersonalData } from "./personal-data.js";

/** What shows events. */
export interface EventShowTools {
  operator: () => InboxOperator;
  personal: PersonalData;
}

/**
 * A page of events as a person may see them. For one who does not see errors as they are, `error` of the query only
 * says that there is one: {@link workWithShownError} looks for the text in what is shown.
 */
export async function listShownEvents(
  { operator, personal }: EventShowTools,
  query: PatientEventQuery,
  rule: PayloadAccess,
): Promise<RowPage<DashboardEvent>> {
  const { error } = query;
  const { items, nextCursor } = await operator().listEvents({
    ...query,
    error: error === undefined || rule === "full" ? error : "",
  });
  const shown: DashboardEvent[] = [];
  // One body after the other: they may be large.
  for (const view of items)
    shown.push(showEvent(view, personal, await showErrorsOf(view, { operator, personal }, rule)));
  return { items: shown, nextCursor };
}

/** Reads the body of an event only if errors of it are compared with that. */
async function showErrorsOf(
  { id, handlers }: EventView,
  { operator, personal }: EventShowTools,
  rule: PayloadAccess,
): Promise<(error: string) => string> {
  if (rule !== "redacted" || handlers.every(({ error }) => error === undefined))
    return personal.errorsOf(undefined, rule);
  const event = await operator().getEvent(id);
  // Deliveries come between two bodies.
  await setImmediate();
  return personal.errorsOf(event?.body, rule);
}

export function showEvent(event: EventView, personal: PersonalData, show: (error: string) => string): DashboardEvent {
  const due = event.handlers.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  return { ...personal.event(eventRow(event), show), nextRunAt: due.length === 0 ? null : isoTime(Math.min(...due)) };
}

/** The work of an event that a query chooses by what is shown of its reason and its error. */
export function workWithShownError({ handlers }: DashboardEvent, query: EventQuery): InboxHandler[] {
  const { state, handler, error } = query;
  return handlers.filter(
    (each) =>
      (state === undefined || each.state === state) &&
      (handler === undefined || each.handler === handler) &&
      (error === undefined || holdsText([each.reason, each.error], error)),
  );
}
