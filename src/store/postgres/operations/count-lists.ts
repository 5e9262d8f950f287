import type { ListCounts } from "../../inbox-view.js";
import type { Sql } from "../sql.js";
import { countOutbox } from "./outbox-inspect.js";

const COUNT_EVENTS = `
  SELECT state, count(DISTINCT seq) AS rows FROM pigeonhole.inbox_work GROUP BY state
  UNION ALL SELECT 'all', count(*) FROM pigeonhole.inbox_event`;

/** Counts the rows of each list. It reads the number of every event, so it is for an operator's view. */
export async function countLists(sql: Sql): Promise<ListCounts> {
  const events: ListCounts["events"] = { all: 0, pending: 0, leased: 0, dead: 0, parked: 0, done: 0 };
  const counted = await sql.rows<{ state: keyof ListCounts["events"]; rows: number }>(COUNT_EVENTS);
  for (const { state, rows } of counted) events[state] = rows;
  const { pending, leased, dead } = await countOutbox(sql);
  const row = await sql.row<{ all: number }>('SELECT count(*) AS "all" FROM pigeonhole.outbox_event');
  const all = row?.all ?? 0;
  return { events, contactEvents: { all, pending, leased, dead, done: all - pending - leased - dead } };
}
