import { isDeepStrictEqual } from "node:util";
import type { ComparableOutboxEvent } from "./outbox.js";

/** Whether the body that is known under the event's key is that of the same event, with its properties in any order. */
export function isSameContactEvent({ body, isTimeGiven }: ComparableOutboxEvent, known: string): boolean {
  return body === known || isDeepStrictEqual(fieldsOf(body, isTimeGiven), fieldsOf(known, isTimeGiven));
}

function fieldsOf(body: string, withTime: boolean): object {
  const fields = JSON.parse(body) as object;
  return withTime ? fields : { ...fields, occurredAt: undefined };
}
