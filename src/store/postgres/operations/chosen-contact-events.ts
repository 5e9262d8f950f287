import type { ContactEventChoice } from "../../outbox.js";
import type { Sql } from "../sql.js";
import { contactEventConditionsOf } from "./outbox-inspect.js";

const whereDead = (choice: ContactEventChoice): string =>
  ["state = 'dead'", ...contactEventConditionsOf(choice)].join(" AND ");

/** The dead contact events among the chosen ones, a page from `after` on, oldest first. */
export async function selectDeadContactEvents(
  sql: Sql,
  { choice, after, limit }: { choice: ContactEventChoice; after: number; limit: number },
): Promise<{ seq: number; send: number | null }[]> {
  return sql.rows(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE ${whereDead(choice)} AND seq > :after ORDER BY seq
     LIMIT :limit`,
    { ...choice, after, limit },
  );
}

/** Counts the dead contact events among the chosen ones. */
export async function countDeadContactEvents(sql: Sql, choice: ContactEventChoice): Promise<number> {
  const row = await sql.row<{ events: number }>(
    `SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE ${whereDead(choice)}`,
    choice,
  );
  return row?.events ?? 0;
}
