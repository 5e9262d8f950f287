/* Without node: imports, since the page uses it too. */

/** A contact event, as the outbox or the page has it. */
interface ContactEventState {
  state: string;
  /** Null or undefined unless its call waits for the next try. */
  dueAt: string | number | null | undefined;
  /** Null or undefined unless the API has stored it. */
  remoteId: string | null | undefined;
}

/** The state of a contact event, or what that state alone does not say: retrying, or discarded. */
export function wordOfContactEvent({ state, dueAt, remoteId }: ContactEventState): string {
  if (state === "leased" && dueAt !== null && dueAt !== undefined) return "retrying";
  return state === "done" && (remoteId === null || remoteId === undefined) ? "discarded" : state;
}

/** What lists call contact events that are in a stored state: a filter by the state selects those with these words. */
export const CONTACT_EVENT_STATE_WORDS = {
  pending: "pending",
  leased: "leased or retrying",
  done: "done or discarded",
  dead: "dead",
} as const;
