import { badField } from "./page-api-error.js";

/** A parameter of a list; undefined when it is left out or empty. */
export function givenIn(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** In milliseconds since 1970; undefined when it is left out or empty. */
export function momentOf(query: URLSearchParams, name: string): number | undefined {
  return readMoment(name, givenIn(query, name));
}

/** A time in ISO 8601 in milliseconds since 1970; undefined without one. `name`: of the field that it is in. */
export function readMoment(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw badField(name, "must be a time in ISO 8601.");
  return moment;
}

/** The state and the cursor of a list; refuses a state that is none of those. */
export function listPageOf<State extends string>(query: URLSearchParams, states: readonly State[]) {
  const [state, cursor] = [givenIn(query, "state"), givenIn(query, "cursor")];
  const known = states.find((candidate) => candidate === state);
  if (state !== undefined && known === undefined) throw badField("state", `must be one of ${states.join(", ")}.`);
  return { state: known, ...(cursor === undefined ? {} : { cursor }) };
}
