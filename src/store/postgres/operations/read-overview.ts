import type { StoreOverview } from "../../inbox-operator.js";
import { countContactEvents } from "../../queries/contact-events.js";
import { countGroups, sumCounts } from "../../queries/counts.js";
import { listRepairs } from "../../queries/repairs.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";

/** Rows of `inbox_done_count` are added up when there are so many. */
const FOLDED_ROWS = 1_000;

const SELECT_DONE = "SELECT coalesce(sum(done), 0) AS done, count(*) AS rows FROM pigeonhole.inbox_done_count";

/** Of two processes that fold at once, each adds up what it has deleted. */
const FOLD = `
  WITH gone AS (DELETE FROM pigeonhole.inbox_done_count RETURNING done)
  INSERT INTO pigeonhole.inbox_done_count (done) SELECT sum(done) FROM gone HAVING sum(done) > 0`;

export async function readOverview(sql: Sql, now: number): Promise<StoreOverview> {
  const { done = 0, rows = 0 } = (await sql.row<{ done: number; rows: number }>(SELECT_DONE)) ?? {};
  if (rows > FOLDED_ROWS) await sql.run(FOLD);
  const counted = await runOnServer(sql, countGroups("pigeonhole.open_work AS w"));
  return {
    events: sumCounts([{ ...counted, done }], now),
    contactEvents: await runOnServer(sql, countContactEvents()),
    repairs: await runOnServer(sql, listRepairs()),
  };
}
