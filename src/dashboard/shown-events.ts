import { isoTime } from "../base/iso-time.js";
import type { RowPage } from "../dev/api/find-rows.js";
import { eventRow } from "../dev/api/inbox-rows.js";
import type { InboxHandler } from "../dev/api/page-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventQuery, EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { DashboardEvent } from "./api/work.js";
import { holdsText } from "./find-shown.js";
import type { PersonalData } from "./personal-data.js";
import type { QuoteHider, Reader } from "./quote-hider.js";
import type { ShowTexts } from "./show-error.js";

/** What shows events. */
export interface EventShowTools {
  operator: () => Pick<InboxOperator, "listEvents" | "readBodies">;
  /** Lists them. @default the operator */
  source?: Pick<InboxOperator, "listEvents">;
  personal: PersonalData;
  quotes: QuoteHider;
}

/**
 * A page of events as a person may see them. For one who does not see errors as they are, `error` of the query only
 * says that there is one: {@link workWithShownError} looks for the text in what is shown.
 */
export async function listShownEvents(
  { operator, source = operator(), personal, quotes }: EventShowTools,
  query: PatientEventQuery,
  reader: Reader,
): Promise<RowPage<DashboardEvent>> {
  const { items, nextCursor } = await source.listEvents(withoutHiddenError(query, reader));
  return { items: await showEvents({ operator, personal, quotes }, items, reader), nextCursor };
}

/** The query without a text of errors that the person may not see. */
export function withoutHiddenError(query: PatientEventQuery, { rule }: Pick<Reader, "rule">): PatientEventQuery {
  const { error } = query;
  return { ...query, error: error === undefined || rule === "full" ? error : "" };
}

/** Listed events as a person may see them. */
export function showEvents(
  { operator, personal, quotes }: Omit<EventShowTools, "source">,
  views: readonly EventView[],
  reader: Reader,
): Promise<DashboardEvent[]> {
  const rows = views.map((view) => ({
    id: view.id,
    make: (show: ShowTexts) => showEvent(view, personal, show.error),
  }));
  return quotes.showAll(operator(), rows, reader);
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
