import { eventTimeline } from "../../operator/event-timeline.js";
import type { TimelineEntry } from "../../operator/timeline-entry.js";
import { findCallInFront } from "../../store/call-in-front.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { EventDetail } from "../../store/inbox-view.js";
import type { OutboxView } from "../../store/outbox.js";
import { allRows } from "../values/find-inbox.js";

/** An event with what is known of its life in the receiver's database. */
export interface EventLife {
  event: EventDetail;
  /** Those that its handlers recorded, newest first. */
  contactEvents: readonly OutboxView[];
  /** Of the call that fails and keeps back all others; undefined while none does. */
  inFront: OutboxView | undefined;
  /** Oldest first. */
  timeline: readonly TimelineEntry[];
}

export async function readEventLife(inbox: InboxOperator, event: EventDetail): Promise<EventLife> {
  const contactEvents: OutboxView[] = [];
  const fetchPage = (page: { limit: number; cursor?: string | null | undefined }) =>
    inbox.listContactEvents({ inboxEventId: event.id, ...page });
  for await (const view of allRows(Infinity, fetchPage)) contactEvents.push(view);
  const timeline = eventTimeline(event, { contactEvents, known: await inbox.listHandlers() });
  return { event, contactEvents, inFront: await findCallInFront(inbox), timeline };
}
