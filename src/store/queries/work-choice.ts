import type { JobWork } from "../bulk-jobs.js";
import { choiceValues } from "../error-group-id.js";
import { WORK_FILTERS, chosenOf, conditionsOn } from "../filters.js";
import { type EventState, IS_WORK, hasEnded } from "../state-words.js";

/** Which work, or events that have it. */
export type ChosenWork = Omit<JobWork, "state"> & { state?: EventState | undefined };

const OF_EVENT = { ...conditionsOn("event", WORK_FILTERS), ids: "e.id = ANY(:ids)" };

const OF_WORK = {
  ...conditionsOn("work", WORK_FILTERS),
  failedBy: `NOT (coalesce(w.settled_at, w.failed_at, 0) > :failedBy::bigint
    AND coalesce(w.settled_at, w.failed_at, 0) <= :readAt::bigint)`,
};

const IS_OPEN = "w.state IN ('pending', 'leased', 'dead', 'parked')";

/** The parameters of the conditions. Throws `invalid_argument` for a choice that cannot be. */
export function choiceParameters(choice: ChosenWork): object {
  return { ...choice, ...choiceValues(choice) };
}

const ofWork = (choice: ChosenWork): string[] => {
  const { state } = choice;
  return [...(state === undefined || state === "unhandled" ? [] : [IS_WORK[state]]), ...chosenOf(OF_WORK, choice)];
};

const ofEvent = (choice: ChosenWork): string[] => {
  const none = "NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = e.seq)";
  return [...(choice.state === "unhandled" ? [none] : []), ...chosenOf(OF_EVENT, choice)];
};

/** Conditions on rows of `inbox_work AS w` joined with `inbox_event AS e`; parameters have the names of the fields. */
export function workConditions(choice: ChosenWork): string[] {
  return [...ofWork(choice), ...ofEvent(choice)];
}

/** Work that is not done as `w`, joined with its events as `e` only if a condition on these is chosen. */
export function fromOpenWork(choice: ChosenWork): string {
  const join = chosenOf(OF_EVENT, choice).length === 0 ? "" : "JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq";
  return `FROM pigeonhole.open_work AS w ${join}`;
}

/**
 * FROM and WHERE of the events of a list with numbers below `:before` and not below `:floor`, as `e`, and its order.
 * What only open work fits is found by that work, newest first: there is less of it than of events.
 */
export function fromListed(choice: ChosenWork): string {
  const { state, error, errorGroup, ids } = choice;
  const hasError = error !== undefined || errorGroup !== undefined;
  const isOver = state !== undefined && hasEnded(state);
  const isOpen = state === undefined ? hasError : !isOver;
  // Of ended work, only superseded work has a reason and an error, and none is in a group.
  const mayFit = state === "discarded" ? errorGroup === undefined : !isOver || !hasError;
  if (!mayFit) return "FROM pigeonhole.inbox_event AS e WHERE false LIMIT :most";
  const range = (table: string): string[] => [`${table}.seq < :before`, `${table}.seq >= :floor`];
  if (isOpen && ids === undefined) {
    // Without a state, SQLite would read all work in the order of its numbers.
    const inStates = state === undefined && errorGroup === undefined ? [IS_OPEN] : [];
    const conditions = [...inStates, ...range("w"), ...workConditions(choice)].join(" AND ");
    return `FROM (
        SELECT DISTINCT w.seq ${fromOpenWork(choice)} WHERE ${conditions} ORDER BY w.seq DESC LIMIT :most
      ) AS found JOIN pigeonhole.inbox_event AS e ON e.seq = found.seq ORDER BY e.seq DESC`;
  }
  const fits = ofWork(choice);
  const inWork =
    fits.length === 0
      ? []
      : [`EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = e.seq AND ${fits.join(" AND ")})`];
  const conditions = [...range("e"), ...ofEvent(choice), ...inWork].join(" AND ");
  return `FROM pigeonhole.inbox_event AS e WHERE ${conditions} ORDER BY e.seq DESC LIMIT :most`;
}
