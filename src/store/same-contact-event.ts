import { isDeepStrictEqual } from "node:util";
import { isErasedContactEvent } from "./erased-contact-event.js";
import type { ComparableOutboxEvent } from "./outbox.js";

/**
 * Whether the body that is known under the event's key is that of the same event, with its properties in any order. An
 * erased one cannot be compared any more and counts as the same, so that no second event is made.
 */
export function isSameContactEvent({ body, isTimeGiven }: ComparableOutboxEvent, known: string): boolean {
  if (isErasedContactEvent(known)) return true;
  return body === known || isDeepStrictEqual(fieldsOf(body, isTimeGiven), fieldsOf(known, isTimeGiven));
}

function fieldsOf(body: string, withTime: boolean): object {
  const fields = JSON.parse(body) as object;
  return withTime ? fields : { ...fields, occurredAt: undefined };
}
