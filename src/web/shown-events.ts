import { piecesIn } from "../operator/states.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventDetail, EventQuery, EventView, EventWithRuns, FailedRun, HandlerView } from "../store/inbox-view.js";
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

/** A row of a list. */
export function showEvent(view: EventView, rule: PayloadAccess): ListedEvent {
  const show = showTexts(rule);
  const handlers = view.handlers.map((work) => ({ ...work, error: work.error && show.error(work.error) }));
  const due = handlers.flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]));
  return {
    ...view,
    handlers,
    nextRunAt: due.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null,
    subject: null,
  };
}

/** The same with errors in full and steps. Errors say what code wrote into them, and handlers make names of values. */
export function showRuns(detail: EventDetail, rule: PayloadAccess): ListedEvent & EventWithRuns {
  const { body: _, seq: __, ...event } = detail;
  const show = showTexts(rule);
  const showRun = (run: FailedRun): FailedRun => ({ ...run, stack: show.error(run.stack) });
  const handlers = event.handlers.map((work) => ({
    ...work,
    error: work.error && show.error(work.error),
    failed: work.failed && { first: showRun(work.failed.first), last: showRun(work.failed.last) },
    steps: work.steps.map((step) => ({ ...step, name: show.text(step.name) })),
  }));
  return { ...showEvent(event, rule), handlers };
}

/** The work of an event that a query chooses by what is shown of its reason and its error. */
export function workWithShownError({ handlers }: ListedEvent, query: EventQuery): HandlerView[] {
  const { state, handler, error } = query;
  return piecesIn(handlers, state ?? "").filter(
    (each) =>
      (handler === undefined || each.handler === handler) &&
      (error === undefined || holdsText([each.reason, each.error], error)),
  );
}
