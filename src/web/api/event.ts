/*
 * GET  api/events?state=&handler=&type=&source=&error=&text=&since=&until=&errorGroup=&cursor=
 *                                              → RowPage of ListedEvent
 * GET  api/errors?handler=&type=&state=&since=&until=&cursor= → ErrorGroupList, each group with all steps of the time
 * GET  api/events/{id}                         → WholeEvent
 * GET  api/events/{id}/deliveries              → EventDeliveries; the service is asked, which takes its time
 * POST api/events/{id}/retry | discard | run {} → InboxChange
 * POST api/events/{id}/payload {}              → UnveiledPayload; logged with the name
 * POST api/events/{id}/fixture {}              → FileText: a capture for the app's own tests; logged with the name
 * POST api/events/{id}/capture {}              → FileText: a capture, strictly redacted, for the dev server; logged
 */
import type { EventView, EventWithRuns } from "../../store/inbox-view.js";
import type { TimelineEntry } from "../../operator/event-timeline.js";
import type { ListedContactEvent } from "./contact-events.js";

/** So many events, or contact events, are chosen one by one at most; a filter chooses any number. */
export const MAX_CHOSEN = 500;

/** An event in the list. */
export interface ListedEvent extends EventView {
  /** When its next run is due, ISO 8601; null when none waits. */
  nextRunAt: string | null;
  /** What it is about, as its payload may be shown; null where that is hidden, dropped, large or not found. */
  subject: string | null;
}

/** A part of a list. It may be short, or empty, and still have a cursor. */
export interface RowPage<Row> {
  items: Row[];
  nextCursor: string | null;
}

/** One event with all that is known about it. */
export interface WholeEvent extends ListedEvent, EventWithRuns {
  /** With errors in full and steps. */
  handlers: EventWithRuns["handlers"];
  /** Oldest first. */
  timeline: TimelineEntry[];
  /** Those that its handlers recorded, newest first, 500 at most. */
  contactEvents: ListedContactEvent[];
  /** True where it has more than those, which are then missing in the time line too. */
  hasMoreContactEvents: boolean;
  payload: ShownPayload;
}

/** The payload as far as it may be shown without unveiling it. */
export interface ShownPayload {
  /**
   * `gone`: retention has dropped it, or it was erased. `too_large`: to be redacted; it can be unveiled.
   */
  kind: "hidden" | "redacted" | "gone" | "too_large";
  /** Null unless `redacted`. */
  text: string | null;
  /** Of the exact bytes; null when gone. */
  bytes: number | null;
  /** True when this person may see it in full. */
  canUnveil: boolean;
}

/** The exact bytes, read as UTF-8. */
export interface UnveiledPayload {
  text: string;
}

/** The service's attempts to deliver an event, by its delivery log: before the event was stored, and after. */
export interface EventDeliveries {
  /** For the time line; oldest first. */
  attempts: TimelineEntry[];
  /** What is not known of them and why, in one line; null when the log was read. */
  note: string | null;
}

/** A file that the page saves. */
export interface FileText {
  name: string;
  mediaType: string;
  text: string;
}
