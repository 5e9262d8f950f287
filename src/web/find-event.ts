import type { InboxOperator } from "../store/inbox-operator.js";
import { type EventDetail, foundEvent } from "../store/inbox-view.js";

/** The event of this id; rejects with `not_found` for one that the store does not have. */
export async function findEvent(operator: InboxOperator, id: string): Promise<EventDetail> {
  return foundEvent(await operator.getEvent(id), { id, place: operator.database });
}
