import { badField } from "./page-api-error.js";

/** In milliseconds since 1970; undefined when it is left out or empty. */
export function momentOf(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null || given === "") return undefined;
  const moment = Date.parse(given);
  if (Number.isNaN(moment)) throw badField(name, "must be a time in ISO 8601.");
  return moment;
}

/** The state and the cursor of a list; refuses a state that is none of those. */
export function listPageOf<State extends string>(query: URLSearchParams, states: readonly State[]) {
  const state = query.get("state");
  const cursor = query.get("cursor");
  const known = states.find((candidate) => candidate === state);
  if (state !== null && state !== "" && known === undefined)
    throw badField("state", `must be one of ${states.join(", ")}.`);
  return { state: known, ...(cursor === null || cursor === "" ? {} : { cursor }) };
}
