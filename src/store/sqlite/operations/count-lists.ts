import type { Database } from "better-sqlite3";
import type { ListCounts } from "../../inbox-view.js";
import { OPEN } from "./open-work.js";
import { prepareCountOutbox } from "./outbox-inspect.js";

/**
 * Counts the rows of each list. It reads the number of every event, so it is for an operator's view, not for each
 * delivery.
 */
export function prepareCountLists(db: Database) {
  const countEvents = db.prepare<[], { state: keyof ListCounts["events"]; rows: number }>(`
    SELECT state, count(DISTINCT seq) AS rows FROM inbox_work INDEXED BY inbox_work_open WHERE ${OPEN} GROUP BY state
    UNION ALL SELECT 'done', count(*) FROM (SELECT DISTINCT seq FROM inbox_work WHERE state = 'done')
    UNION ALL SELECT 'all', count(*) FROM inbox_event`);
  const countContactEvents = db.prepare<[], number>("SELECT count(*) FROM outbox_event").pluck();
  const countOutbox = prepareCountOutbox(db);

  return (): ListCounts => {
    const events: ListCounts["events"] = { all: 0, pending: 0, leased: 0, dead: 0, parked: 0, done: 0 };
    for (const { state, rows } of countEvents.all()) events[state] = rows;
    const { pending, leased, dead } = countOutbox();
    const all = countContactEvents.get() ?? 0;
    return { events, contactEvents: { all, pending, leased, dead, done: all - pending - leased - dead } };
  };
}
