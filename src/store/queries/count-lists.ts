import type { ListCounts } from "../inbox-view.js";
import { countContactEvents } from "./contact-events.js";
import { type StoreQuery, readFirst, readRows } from "./store-query.js";

/** Counts the rows of each list. It reads the number of every event, so it is for an operator's view. */
export function* countLists(): StoreQuery<ListCounts> {
  const events: ListCounts["events"] = { all: 0, pending: 0, leased: 0, dead: 0, parked: 0, done: 0 };
  const counted = yield* readRows<{ state: keyof ListCounts["events"]; rows: number }>(`
    SELECT state, count(DISTINCT seq) AS rows FROM pigeonhole.open_work AS w GROUP BY state
    UNION ALL SELECT 'done', count(*) FROM (SELECT DISTINCT seq FROM pigeonhole.inbox_work WHERE state = 'done') AS d
    UNION ALL SELECT 'all', count(*) FROM pigeonhole.inbox_event`);
  for (const { state, rows } of counted) events[state] = rows;
  const { pending, leased, dead } = yield* countContactEvents();
  const all = (yield* readFirst<{ rows: number }>("SELECT count(*) AS rows FROM pigeonhole.outbox_event"))?.rows ?? 0;
  return { events, contactEvents: { all, pending, leased, dead, done: all - pending - leased - dead } };
}
