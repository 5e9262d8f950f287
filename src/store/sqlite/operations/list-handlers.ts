import type { Database } from "better-sqlite3";
import { prepareListFailedHandlers } from "./error-groups.js";

/** Names of the handlers that receivers have had, or that have failed work. */
export function prepareListHandlers(db: Database): () => string[] {
  const selectKept = db.prepare<[], string>("SELECT handler FROM inbox_handler").pluck();
  const listFailed = prepareListFailedHandlers(db);
  return () => [...new Set([...selectKept.all(), ...listFailed()])].toSorted();
}
