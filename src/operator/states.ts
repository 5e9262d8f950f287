/* Without node: imports, since the page uses it too. */

export type { ContactEventState, EventState, FailedState, WorkState } from "../store/state-words.js";
export { CONTACT_EVENT_STATES, EVENT_STATES, FAILED_STATES, STATE_WORDS, stateOfEvent } from "../store/state-words.js";

/** What there is to know of a handler's work. */
interface Work {
  state: string;
  retryRequestedAt?: string | null | undefined;
}

/** Whether work has ended without success, and no receiver is about to read its event again. */
export function isStopped({ state, retryRequestedAt }: Work): boolean {
  return (state === "dead" || state === "parked") && typeof retryRequestedAt !== "string";
}

/** Those of an event's pieces of work that a list narrowed to a state is about; all without a state. */
export function piecesIn<Piece extends Work>(handlers: readonly Piece[], state: string): readonly Piece[] {
  return state === "" ? handlers : handlers.filter((each) => each.state === state);
}
