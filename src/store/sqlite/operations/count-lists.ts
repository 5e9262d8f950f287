import type { Database } from "better-sqlite3";
import type { ListCounts } from "../../inbox-view.js";
import { prepareCountOutbox } from "./outbox-inspect.js";

/**
 * Counts the rows of each list. It reads the number of every event, so it is for an operator's view, not for each
 * delivery.
 */
export function prepareCountLists(db: Database) {
  const countEvents = db.prepare<[], { state: keyof ListCounts["events"]; rows: number }>(`
    SELECT state, count(DISTINCT seq) AS rows FROM inbox_work WHERE state <> 'leased' GROUP BY state
    UNION ALL SELECT 'leased', count(*) FROM
      (SELECT seq FROM inbox_work WHERE state = 'leased' UNION SELECT seq FROM inbox_in_flight)
    UNION ALL SELECT 'all', count(*) FROM inbox_event
    UNION ALL SELECT 'done',
      (SELECT count(DISTINCT d.seq) FROM inbox_done AS d JOIN inbox_event AS e ON e.seq = d.seq WHERE e.direct IS NULL)
      + (SELECT count(*) FROM inbox_event WHERE direct IS NOT NULL)
      -- Events that were leased when they were accepted are done for a handler, except for some of these.
      - (SELECT count(*) FROM (SELECT seq FROM inbox_work UNION SELECT seq FROM inbox_in_flight) AS open
         JOIN inbox_event AS e ON e.seq = open.seq
         WHERE e.direct IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM inbox_done AS d WHERE d.seq = e.seq)
           AND NOT EXISTS (SELECT 1 FROM inbox_marked AS m WHERE m.seq = e.seq))`);
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
