import { WORK_FILTERS } from "../store/filters.js";
import type { EventQuery } from "../store/inbox-view.js";
import { EVENT_STATES } from "../store/state-words.js";
import { type Filters, readFilters } from "../operator/filter-reader.js";
import { badField } from "./page-api-error.js";

/** A parameter of a list; undefined when it is left out or empty. */
export function givenIn(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** The filters of a list that are given; throws for a text that a filter does not read. */
export function filtersIn<const Known extends Filters>(query: URLSearchParams, filters: Known) {
  return readFilters(filters, (name) => givenIn(query, name), badField);
}

/** Which events a list has. */
export function eventQuery(query: URLSearchParams): EventQuery {
  return { ...listPageOf(query, EVENT_STATES), ...filtersIn(query, WORK_FILTERS) };
}

/** The state and the cursor of a list; refuses a state that is none of those. */
export function listPageOf<State extends string>(query: URLSearchParams, states: readonly State[]) {
  const [state, cursor] = [givenIn(query, "state"), givenIn(query, "cursor")];
  const known = states.find((candidate) => candidate === state);
  if (state !== undefined && known === undefined) throw badField("state", `must be one of ${states.join(", ")}.`);
  return { state: known, ...(cursor === undefined ? {} : { cursor }) };
}
