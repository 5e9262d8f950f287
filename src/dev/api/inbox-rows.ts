import { isoTime } from "../../base/iso-time.js";
import type { HandlerTimes } from "../../store/handler-times.js";
import type { EventDetail, EventView, FailedRuns, HandlerView } from "../../store/inbox-view.js";
import type { OutboxView } from "../../store/outbox.js";
import type {
  ContactEventRow,
  EventWork,
  HandlerErrorRows,
  HandlerTimesRow,
  InboxEvent,
  InboxHandler,
} from "./page-api.js";

/** An event of the inbox as the page shows it. */
export function eventRow({ id, type, test, receivedAt, state, handlers }: EventView): InboxEvent {
  return { id, type, test, receivedAt: isoTime(receivedAt), state, handlers: handlers.map(handlerRow) };
}

/** What the handlers made of an event, with the errors in full. */
export function workOn(event: EventDetail): EventWork {
  const errors = event.handlers.flatMap(({ handler, failed }) =>
    failed === undefined ? [] : [[handler, handlerErrorRows(failed)]],
  );
  return { event: eventRow(event), errors: Object.fromEntries(errors) as EventWork["errors"] };
}

/** The kept errors of a handler as the page shows them. */
export function handlerErrorRows({ first, last }: FailedRuns): HandlerErrorRows {
  return { first: { ...first, at: isoTime(first.at) }, last: { ...last, at: isoTime(last.at) } };
}

function handlerRow(view: HandlerView): InboxHandler {
  const { handler, state, reason, error, attempts, maxAttempts, dueAt, retryRequestedAt, discarded } = view;
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
  };
}

/** The times of a handler as the page shows them. */
export function handlerTimesRow({ medianMs, p95Ms, buckets, ...times }: HandlerTimes): HandlerTimesRow {
  return {
    ...times,
    medianMs: medianMs ?? null,
    p95Ms: p95Ms ?? null,
    buckets: buckets.map(({ toMs, ...bucket }) => ({ ...bucket, toMs: toMs ?? null })),
  };
}

/** A contact event of the outbox as the page shows it. */
export function contactEventRow(view: OutboxView): ContactEventRow {
  const { name, email, contactId } = JSON.parse(view.body) as { name: string; email?: string; contactId?: string };
  return {
    key: view.key,
    state: view.state,
    name,
    contact: email ?? contactId ?? "",
    recordedAt: isoTime(view.recordedAt),
    occurredAt: isoTime(view.occurredAt),
    settledAt: isoTime(view.settledAt),
    attempts: view.attempts,
    dueAt: isoTime(view.dueAt),
    error: view.error ?? null,
    reason: view.reason ?? null,
    code: view.code ?? null,
    param: view.param ?? null,
    message: view.message ?? null,
    remoteId: view.remoteId ?? null,
    inboxEventId: view.inboxEventId ?? null,
    call: view.call ?? null,
    callEvents: view.callEvents ?? null,
  };
}
