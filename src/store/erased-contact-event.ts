import type { MentionsEmail } from "../base/mentions-email.js";

/** Begins the body of an erased event; the service's events have no such field. */
const MARK = '{"erased":true';

/** What is left of a contact event's body: its name, unless that contains the address too. */
export function eraseContactEvent(body: string, mentions: MentionsEmail): string {
  const { name } = JSON.parse(body) as { name: string };
  return JSON.stringify({ erased: true, name: mentions(name) ? "" : name });
}

export function isErasedContactEvent(body: string): boolean {
  return body.startsWith(MARK);
}
