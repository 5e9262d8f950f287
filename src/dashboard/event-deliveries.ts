import { isoTime } from "../base/iso-time.js";
import { eventIdOf } from "../protocol/inbox-id.js";
import { isRawEventId } from "../protocol/raw-event-id.js";
import type { EventAttempt, UnreadReason } from "../receiver/event-attempts.js";
import type { EventDeliveries } from "../web/api/event.js";
import type { TimelineEntry } from "../operator/event-timeline.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { foundEvent } from "../store/inbox-view.js";
import type { WebCall, WebRoute } from "../web/web-route.js";
import { showTexts } from "../web/show-error.js";
import type { DeliveryLog, LogAnswer } from "./delivery-log.js";

/**
 * The service's attempts to deliver an event: asked for beside the event, since the service takes its time.
 * `deliveries`: undefined for a receiver without an API.
 */
export function deliveryRoute(operator: () => InboxOperator, deliveries: DeliveryLog | undefined): WebRoute {
  return { at: "GET /api/events/{id}/deliveries", handle: (call) => readDeliveries(operator(), deliveries, call) };
}

async function readDeliveries(
  inbox: InboxOperator,
  deliveries: DeliveryLog | undefined,
  { id, person: { payloads: rule } }: WebCall,
): Promise<EventDeliveries> {
  const { id: inboxId, receivedAt } = foundEvent(await inbox.getEvent(id), { id, place: inbox.database });
  const eventId = eventIdOf(inboxId);
  if (deliveries === undefined) return notKnown("the receiver has no option api with which to ask.");
  if (isRawEventId(eventId)) return notKnown("the body has no event id by which to find them.");
  const answer = await deliveries.attemptsOf({ eventId, receivedAt: Date.parse(receivedAt) });
  return eventDeliveries(answer, showTexts(rule).error);
}

/** What the time line says of the service's attempts. `show` removes from its words what must not be seen. */
export function eventDeliveries(answer: LogAnswer, show: (error: string) => string): EventDeliveries {
  switch (answer.kind) {
    case "busy":
      return notKnown("too many people read the service's delivery log at once. Open the event again in some seconds.");
    case "unread":
      return notKnown(WHY[answer.reason](answer));
    case "read": {
      const { attempts, isWhole } = answer;
      const isOfSeveral = new Set(attempts.map(({ endpointId }) => endpointId)).size > 1;
      const entries = attempts.map((attempt) => attemptEntry(attempt, { show, isOfSeveral }));
      if (!isWhole) return { attempts: entries, note: TOO_LONG };
      return { attempts: entries, note: entries.length === 0 ? NONE : null };
    }
  }
}

/** Other attempts than the one that was stored, and why nothing is known of them. */
function notKnown(why: string): EventDeliveries {
  return { attempts: [], note: `Earlier and later attempts of the service are not known: ${why}` };
}

const TOO_LONG =
  "The service's delivery log has more rows of that time than are read here: attempts of this event may be missing.";
const NONE = "The service's delivery log has no attempt of this event.";

type Unread = Extract<LogAnswer, { kind: "unread" }>;

const WHY: Record<UnreadReason, (reading: Unread) => string> = {
  no_scope: () => "the API key of the receiver lacks the scope webhooks:read.",
  key_refused: ({ status }) => `the API refused the key of the receiver (HTTP ${status}).`,
  rate_limited: () => "the API answers too many requests (HTTP 429). Open the event again later.",
  no_answer: () => "the API did not answer in time.",
  other_answer: ({ status = 0 }) =>
    status < 300
      ? `the API's answer, HTTP ${status}, could not be read as a delivery log.`
      : `the API answered HTTP ${status} when asked for the delivery log.`,
  unnamed_rows: () => "the service's delivery log does not say of which event a row is.",
};

function attemptEntry(
  { at, endpointId, attempt, kind, status, responseCode, durationMs, error }: EventAttempt,
  { show, isOfSeveral }: { show: (error: string) => string; isOfSeveral: boolean },
): TimelineEntry {
  const after = durationMs === null ? "" : ` after ${durationMs} ms`;
  const answer = responseCode === null ? `had no answer${after}` : `was answered ${responseCode}${after}`;
  const to = isOfSeveral && endpointId !== null ? ` at ${endpointId}` : "";
  return {
    kind: status === "delivered" ? "attempt_delivered" : "attempt_failed",
    at: at === null ? null : isoTime(at),
    handler: null,
    attempt: null,
    text: `${subjectOf(kind, attempt)} ${answer}${to}.`,
    detail: error === null || error === "" ? null : show(error),
    key: null,
  };
}

function subjectOf(kind: string | null, attempt: number | null): string {
  if (kind === "replay") return "A replay by the service";
  if (kind === "test") return "The service's test";
  return attempt === null ? "An attempt of the service" : `Attempt ${attempt} of the service`;
}
