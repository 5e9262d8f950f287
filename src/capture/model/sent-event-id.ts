import { rawEventId } from "../../protocol/raw-event-id.js";
import type { Capture, CaptureAttempt } from "./capture.js";
import { readEnvelope } from "./captured-body.js";

/* Without node: imports, since the page uses it too. */

/**
 * The id under which a receiver has what the attempt sent, or what was captured where no attempt is given; null for an
 * edited body without an id.
 */
export function sentEventId(
  { event, request }: Pick<Capture, "event" | "request">,
  attempt?: Pick<CaptureAttempt, "eventId" | "sentBody">,
): string | null {
  const capturedId = event.id ?? rawEventId(request.sha256);
  return attempt === undefined ? capturedId : attemptEventId(attempt, capturedId);
}

/** The same where only the id of what was captured is known. */
export function attemptEventId(
  { eventId, sentBody }: Pick<CaptureAttempt, "eventId" | "sentBody">,
  capturedId: string | null,
): string | null {
  if (eventId !== null) return eventId;
  return sentBody === null ? capturedId : readEnvelope(sentBody).id;
}

/** Whether the app said that it has not taken what was sent; without an answer it may have. */
export function isRefused({ status }: Pick<CaptureAttempt, "status">): boolean {
  return status !== null && (status < 200 || status > 299);
}

/** The event ids that the app may have taken, the latest first; the captured one if nothing was sent. */
export function sentEventIds(capture: Pick<Capture, "event" | "request" | "attempts">): string[] {
  const { attempts } = capture;
  const taken = attempts.filter((attempt) => !isRefused(attempt)).map((attempt) => sentEventId(capture, attempt));
  return [...new Set(attempts.length === 0 ? [sentEventId(capture)] : taken.toReversed())].filter((id) => id !== null);
}
