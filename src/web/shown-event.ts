import type { EventDetail, EventView, EventWithRuns, FailedRun } from "../store/inbox-view.js";
import type { PayloadAccess } from "./api/session.js";
import type { ListedEvent } from "./api/event.js";
import { showTexts } from "./show-error.js";

/** A row of a list, as a person may see it. */
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
