import { isDeepStrictEqual } from "node:util";
import type { MentionsEmail } from "../base/mentions-email.js";
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

/**
 * The name in the body of a contact event, for a column of its own: PostgreSQL cannot read one field of a JSON text in
 * which another has U+0000 or half of a pair.
 */
export function nameOfContactEvent(body: string): string {
  const { name } = JSON.parse(body) as { name?: unknown };
  return typeof name === "string" ? name : "";
}

/** Begins the body of an erased event; the service's events have no such field. */
const MARK = '{"erased":true';

/** What is left of a contact event: its name, unless that contains the address too. */
export function eraseContactEvent(body: string, mentions: MentionsEmail): { name: string; body: string } {
  const name = nameOfContactEvent(body);
  const left = mentions(name) ? "" : name;
  return { name: left, body: JSON.stringify({ erased: true, name: left }) };
}

function isErasedContactEvent(body: string): boolean {
  return body.startsWith(MARK);
}
