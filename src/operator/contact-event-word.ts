import type { OutboxView } from "../store/outbox.js";

/* Without node: imports, since the page uses it too. */

type ContactEventState = Pick<OutboxView, "state" | "dueAt" | "remoteId">;

/** The state of a contact event, or what that state alone does not say: retrying, or discarded. */
export function wordOfContactEvent({ state, dueAt, remoteId }: ContactEventState): string {
  if (state === "leased" && dueAt !== null) return "retrying";
  return state === "done" && remoteId === null ? "discarded" : state;
}

/** What lists call contact events that are in a stored state: a filter by the state selects those with these words. */
export const CONTACT_EVENT_STATE_WORDS = {
  pending: "pending",
  leased: "leased or retrying",
  done: "done or discarded",
  dead: "dead",
} as const;
