import type { ShownStep } from "./timeline-entry.js";
import { isoTime } from "../base/iso-time.js";
import type { EventDetail, EventView, FailedRun, FailedRuns, HandlerView } from "../store/inbox-view.js";
import type { OutboxView } from "../store/outbox.js";

export type { HandlerTimes } from "../store/handler-times.js";

export interface InboxHandler {
  handler: string;
  state: string;
  reason: string | null;
  error: string | null;
  attempts: number;
  /** How often the handler may fail; null where that is not known. */
  maxAttempts: number | null;
  /** ISO 8601 or null. */
  dueAt: string | null;
  /** Since when an event that was not understood waits to be read again, ISO 8601 or null. */
  retryRequestedAt: string | null;
  /** True when the work was ended without a run: by a discard, or because the handler has other bytes of the id. */
  discarded: boolean;
  /** Name of the gate that keeps the work from its begin; null where none is known to, and in lists. */
  waitsFor: string | null;
}

export interface InboxEvent {
  id: string;
  type: string;
  test: boolean;
  /** ISO 8601. */
  receivedAt: string;
  state: string;
  handlers: InboxHandler[];
}

export interface HandlerErrorRow extends Pick<FailedRun, "attempt" | "stack"> {
  /** When it ended, ISO 8601. */
  at: string;
}

/** The first and the last failed run of a handler. */
export interface HandlerErrorRows {
  first: HandlerErrorRow;
  last: HandlerErrorRow;
}

/** What the app's handlers made of an event. */
export interface EventWork {
  event: InboxEvent;
  /** First and last error of each handler in full, by its name; handlers without one are left out. */
  errors: Record<string, HandlerErrorRows>;
  /** Finished steps of `ctx.step`, by handler and then oldest first; none once the body is dropped. */
  steps: ShownStep[];
}

/** A contact event in lists. */
export type ContactEventRow = Omit<OutboxView, "seq" | "body">;

/** An event of the inbox as the page shows it. */
export function eventRow({ id, type, test, receivedAt, state, handlers }: EventView): InboxEvent {
  return { id, type, test, receivedAt: isoTime(receivedAt), state, handlers: handlers.map(handlerRow) };
}

/** What the handlers made of an event, with the errors in full and the finished steps. */
export function workOn(event: EventDetail): EventWork {
  const errors = event.handlers.flatMap(({ handler, failed }) =>
    failed === undefined ? [] : [[handler, handlerErrorRows(failed)]],
  );
  return {
    event: eventRow(event),
    errors: Object.fromEntries(errors) as EventWork["errors"],
    steps: finishedSteps(event, (name) => name),
  };
}

/** The steps that its handlers have finished. Handlers make names of values too: `show` hides those. */
export function finishedSteps({ handlers }: EventDetail, show: (name: string) => string): ShownStep[] {
  return handlers.flatMap(({ handler, steps }) =>
    steps.map(({ name, at }) => ({ handler, name: show(name), at: isoTime(at) })),
  );
}

/** The kept errors of a handler as the page shows them. */
export function handlerErrorRows({ first, last }: FailedRuns): HandlerErrorRows {
  return { first: { ...first, at: isoTime(first.at) }, last: { ...last, at: isoTime(last.at) } };
}

function handlerRow(view: HandlerView): InboxHandler {
  const { handler, state, reason, error, attempts, maxAttempts, dueAt, retryRequestedAt, discarded, waitsFor } = view;
  return {
    handler,
    state,
    reason: reason ?? null,
    error: error ?? null,
    attempts,
    maxAttempts: maxAttempts ?? null,
    dueAt: isoTime(dueAt),
    retryRequestedAt: isoTime(retryRequestedAt),
    discarded,
    waitsFor: waitsFor ?? null,
  };
}
