import { isoTime } from "../base/iso-time.js";
import { eventRow, type InboxHandler } from "../operator/inbox-rows.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventQuery, EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { PayloadAccess } from "./api/session.js";
import type { ListedEvent } from "./api/work.js";
import { type RowPage, holdsText } from "./find-shown.js";
import { showTexts } from "./show-error.js";

/**
 * A page of events as a person may see them. For one who may not see all, `error` of the query only says that there is
 * one: {@link workWithShownError} looks for the text in what is shown.
 */
export async function listShownEvents(
  inbox: Pick<InboxOperator, "listEvents">,
  query: PatientEventQuery,
  rule: PayloadAccess,
): Promise<RowPage<ListedEvent>> {
  const { items, nextCursor } = await inbox.listEvents(withoutHiddenError(query, rule));
  return { items: items.map((event) => showEvent(event, rule)), nextCursor };
}

/** The query without a text of errors that the person may not see. */
export function withoutHiddenError(query: PatientEventQuery, rule: PayloadAccess): PatientEventQuery {
  const { error } = query;
  return { ...query, error: error === undefined || rule === "full" ? error : "" };
}

export function showEvent(event: EventView, rule: PayloadAccess): ListedEvent {
  const show = showTexts(rule);
  const row = eventRow(event);
  const due = event.handlers.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  return {
    ...row,
    handlers: row.handlers.map((each) => ({ ...each, error: each.error === null ? null : show.error(each.error) })),
    nextRunAt: due.length === 0 ? null : isoTime(Math.min(...due)),
    subject: null,
  };
}

/** The work of an event that a query chooses by what is shown of its reason and its error. */
export function workWithShownError({ handlers }: ListedEvent, query: EventQuery): InboxHandler[] {
  const { state, handler, error } = query;
  return handlers.filter(
    (each) =>
      (state === undefined || each.state === state) &&
      (handler === undefined || each.handler === handler) &&
      (error === undefined || holdsText([each.reason, each.error], error)),
  );
}
