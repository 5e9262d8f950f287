import { isoTime } from "../../base/iso-time.js";
import { wordOfWork } from "../../operator/work-word.js";
import { handlerErrorRows } from "../../operator/inbox-rows.js";
import type { EventView } from "../../store/inbox-view.js";
import type { EventLife } from "./event-life.js";

/** An event for programs, as the lists have it. */
export function eventRecord(event: EventView): Record<string, unknown> {
  const { id, type, test, receivedAt, signedAt, state, handlers, otherBytes } = event;
  return {
    id,
    type,
    test,
    receivedAt: isoTime(receivedAt),
    signedAt: isoTime(signedAt),
    state,
    work: wordOfWork(event),
    handlers: handlers.map(
      ({ dueAt, settledAt, retryRequestedAt, reason, error, maxAttempts, waitsFor, ...handler }) => ({
        ...handler,
        maxAttempts: maxAttempts ?? null,
        reason: reason ?? null,
        ...(waitsFor !== undefined && { waitsFor }),
        error: error ?? null,
        dueAt: isoTime(dueAt),
        settledAt: isoTime(settledAt),
        ...(retryRequestedAt !== undefined && { retryRequestedAt: isoTime(retryRequestedAt) }),
      }),
    ),
    ...(otherBytes.length > 0 && { otherBytes }),
  };
}

/** With the errors in full, and the life of the event. */
export function detailRecord({ event, contactEvents, timeline }: EventLife): Record<string, unknown> {
  const handlers = event.handlers.map(({ failed, steps, ...view }) => ({
    ...view,
    ...(steps.length > 0 && { steps: steps.map(({ name, at }) => ({ name, at: isoTime(at) })) }),
    ...(failed !== undefined && { failed: handlerErrorRows(failed) }),
  }));
  return {
    ...eventRecord({ ...event, handlers }),
    contactEvents,
    timeline,
  };
}
