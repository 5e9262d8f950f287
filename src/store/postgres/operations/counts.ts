import type { StoreCounts } from "../../inbox-view.js";
import type { Sql } from "../sql.js";
import { OPEN_WORK } from "./open-work.js";
import { listPaused } from "../../queries/handlers.js";
import { runOnServer } from "../run-on-server.js";

/** Rows of `inbox_done_count` are added up when there are so many. */
const FOLDED_ROWS = 1_000;

interface Group {
  state: "pending" | "leased" | "dead" | "parked";
  handler: string;
  rows: number;
  dueAt: number | null;
  oldestSeq: number;
}

/** The number of stored events does not matter. */
const COUNT_WORK = `
  SELECT handler, state, count(*) AS rows, min(due_at) AS "dueAt", min(seq) AS "oldestSeq"
  FROM ${OPEN_WORK} AS w GROUP BY handler, state`;

const SELECT_DONE = "SELECT coalesce(sum(done), 0) AS done, count(*) AS rows FROM pigeonhole.inbox_done_count";

const SELECT_NEWEST = "SELECT received_at AS at FROM pigeonhole.inbox_event ORDER BY seq DESC LIMIT 1";

/** Of two processes that fold at once, each adds up what it has deleted. */
const FOLD = `
  WITH gone AS (DELETE FROM pigeonhole.inbox_done_count RETURNING done)
  INSERT INTO pigeonhole.inbox_done_count (done) SELECT sum(done) FROM gone HAVING sum(done) > 0`;

/** Counts the work by state. What is settled meanwhile may be counted in either state. */
export async function countWork(sql: Sql, now: number): Promise<StoreCounts> {
  const groups = await sql.rows<Group>(COUNT_WORK);
  const done = await sql.row<{ done: number; rows: number }>(SELECT_DONE);
  if (done !== undefined && done.rows > FOLDED_ROWS) await sql.run(FOLD);
  const ofState = (state: Group["state"]): Group[] => groups.filter((group) => group.state === state);
  const count = (state: Group["state"]): number => ofState(state).reduce((sum, { rows }) => sum + rows, 0);
  const oldest = await receivedAts(sql, [oldestOf(ofState("pending")), oldestOf(ofState("leased"))]);
  const newest = await sql.row<{ at: number }>(SELECT_NEWEST);
  const paused = new Set((await runOnServer(sql, listPaused())).map(({ handler }) => handler));
  const dues = ofState("pending").flatMap(({ handler, dueAt }) =>
    dueAt !== null && dueAt <= now && !paused.has(handler) ? [dueAt] : [],
  );
  return {
    pending: count("pending"),
    leased: count("leased"),
    dead: count("dead"),
    parked: count("parked"),
    done: done?.done ?? 0,
    oldestPendingReceivedAt: oldest[0],
    oldestLeasedReceivedAt: oldest[1],
    oldestDueAt: dues.length === 0 ? undefined : Math.min(...dues),
    newestReceivedAt: newest?.at,
    pendingByHandler: Object.fromEntries(ofState("pending").map(({ handler, rows }) => [handler, rows])),
  };
}

function oldestOf(groups: readonly Group[]): number | undefined {
  return groups.length === 0 ? undefined : Math.min(...groups.map(({ oldestSeq }) => oldestSeq));
}

async function receivedAts(sql: Sql, seqs: readonly (number | undefined)[]): Promise<(number | undefined)[]> {
  const rows = await sql.rows<{ seq: number; at: number }>(
    "SELECT seq, received_at AS at FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs::bigint[])",
    { seqs: seqs.filter((seq) => seq !== undefined) },
  );
  const found = new Map(rows.map(({ seq, at }) => [seq, at]));
  return seqs.map((seq) => (seq === undefined ? undefined : found.get(seq)));
}
