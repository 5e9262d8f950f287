import { eventIdOf } from "../protocol/inbox-id.js";
import { isRawEventId } from "../protocol/raw-event-id.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventDeliveries } from "../web/api/event.js";
import type { InboxCall, InboxRoute } from "../web/inbox-route.js";
import type { DeliveryLog } from "./delivery-log.js";
import { eventDeliveries, notKnown } from "./event-deliveries.js";
import { findEvent } from "../web/find-event.js";
import { showTexts } from "../web/show-error.js";

/** What the route works with. */
export interface DeliveryRouteTools {
  operator: () => InboxOperator;
  /** Undefined for a receiver without an API. */
  deliveries: DeliveryLog | undefined;
}

/** The service's attempts to deliver an event: asked for beside the event, since the service takes its time. */
export function deliveryRoutes(tools: DeliveryRouteTools): InboxRoute[] {
  return [
    {
      method: "GET",
      path: "/api/events/{id}/deliveries",
      needs: "read",
      handle: (call) => readDeliveries(tools, call),
    },
  ];
}

async function readDeliveries(
  { operator, deliveries }: DeliveryRouteTools,
  { id, person: { payloads: rule } }: InboxCall,
): Promise<EventDeliveries> {
  const { id: inboxId, receivedAt } = await findEvent(operator(), id);
  const eventId = eventIdOf(inboxId);
  if (deliveries === undefined) return notKnown("the receiver has no option api with which to ask.");
  if (isRawEventId(eventId)) return notKnown("the body has no event id by which to find them.");
  const answer = await deliveries.attemptsOf({ eventId, receivedAt: Date.parse(receivedAt) });
  return eventDeliveries(answer, showTexts(rule).error);
}
