import type { PausedHandler } from "../../paused-handlers.js";
import type { Sql } from "../sql.js";

/** The paused handlers, in the order of their names. */
export function listPaused(sql: Sql): Promise<PausedHandler[]> {
  return sql.rows("SELECT handler, since, paused_by AS by FROM pigeonhole.inbox_paused ORDER BY handler");
}

/** False when the handler was paused already. */
export async function pauseHandler(sql: Sql, paused: PausedHandler): Promise<boolean> {
  const added = await sql.run(
    `INSERT INTO pigeonhole.inbox_paused (handler, since, paused_by) VALUES (:handler, :since, :by)
     ON CONFLICT DO NOTHING`,
    paused,
  );
  return added === 1;
}

/** False when the handler was not paused. */
export async function resumeHandler(sql: Sql, handler: string): Promise<boolean> {
  return (await sql.run("DELETE FROM pigeonhole.inbox_paused WHERE handler = :handler", { handler })) === 1;
}
