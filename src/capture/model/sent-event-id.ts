import { rawEventId } from "../../protocol/raw-event-id.js";
import type { Capture, CaptureAttempt } from "./capture.js";

/* Without node: imports, since the page uses it too. */

/**
 * The id under which a receiver has what the attempt sent, or what was captured where no attempt is given; null for an
 * edited body without an id.
 */
export function sentEventId(
  { event, request }: Pick<Capture, "event" | "request">,
  attempt?: Pick<CaptureAttempt, "eventId" | "sentBody">,
): string | null {
  const id = attempt?.eventId ?? event.id;
  if (id !== null) return id;
  return attempt === undefined || attempt.sentBody === null ? rawEventId(request.sha256) : null;
}

/** The event ids that were sent to the app, the latest first; the captured one if nothing was sent. */
export function sentEventIds(capture: Pick<Capture, "event" | "request" | "attempts">): string[] {
  const sent = capture.attempts.map((attempt) => sentEventId(capture, attempt)).toReversed();
  return [...new Set(sent.length === 0 ? [sentEventId(capture)] : sent)].filter((id) => id !== null);
}
