import type { Sql } from "../sql.js";

/** What the clock of the server shows, in milliseconds since 1970: an expression. */
export const SERVER_TIME = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export async function readServerTime(sql: Sql): Promise<number> {
  const row = await sql.row<{ now: number }>(`SELECT ${SERVER_TIME} AS now`);
  return row?.now ?? Date.now();
}
