import type { MentionsEmail } from "../base/mentions-email.js";

/** Begins the body of an erased event; the service's events have no such field. */
const MARK = '{"erased":true';

/** What is left of a contact event: its name, unless that contains the address too. */
export function eraseContactEvent(body: string, mentions: MentionsEmail): { name: string; body: string } {
  const { name } = JSON.parse(body) as { name: string };
  const left = mentions(name) ? "" : name;
  return { name: left, body: JSON.stringify({ erased: true, name: left }) };
}

export function isErasedContactEvent(body: string): boolean {
  return body.startsWith(MARK);
}
