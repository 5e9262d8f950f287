import type { Sql } from "../sql.js";
import { listFailedHandlers } from "./error-groups.js";

/** Names of the handlers that receivers have had, or that have failed work. */
export async function listHandlers(sql: Sql): Promise<string[]> {
  const kept = await sql.rows<{ handler: string }>("SELECT handler FROM pigeonhole.inbox_handler");
  return [...new Set([...kept.map(({ handler }) => handler), ...(await listFailedHandlers(sql))])].toSorted();
}
