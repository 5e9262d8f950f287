import { readErrorGroupId } from "../../store/error-group-id.js";

/** Checks the id of a group of errors. */
export function parseErrorGroup(id: string): string {
  if (readErrorGroupId(id) !== undefined) return id;
  const hint = id.startsWith("group_")
    ? " An id that begins with group_ is a stand-in of the dashboard, which only the dashboard can read."
    : "";
  throw new Error(`It must be the id of a group, as "pigeonhole inbox errors" lists it.${hint}`);
}
