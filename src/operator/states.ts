/* Without node: imports, since the page uses it too. */

import type { HandlerView } from "../store/inbox-view.js";
import { isWaiting } from "../store/state-words.js";

/** Whether work has ended without success, and no receiver is about to read its event again. */
export function isStopped({ state, retryRequestedAt }: Pick<HandlerView, "state" | "retryRequestedAt">): boolean {
  return (state === "dead" || state === "parked") && retryRequestedAt === null;
}

/** Whether a run has failed or asked to wait, and another comes. A run that ended with its process has no error. */
export function runsAgain({ state, attempts, error }: Pick<HandlerView, "state" | "attempts" | "error">): boolean {
  return isWaiting(state) && attempts > 0 && error !== null;
}

/** Those of an event's pieces of work that a list narrowed to a state is about; all without a state. */
export function piecesIn<Piece extends Pick<HandlerView, "state">>(
  handlers: readonly Piece[],
  state: string,
): readonly Piece[] {
  return state === "" ? handlers : handlers.filter((each) => each.state === state);
}
