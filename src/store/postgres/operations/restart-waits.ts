import type { Sql } from "../sql.js";

/** Runs statements on the store's own connection; what others ask for runs between two calls. */
type Work = <Value>(use: (sql: Sql) => Promise<Value>) => Promise<Value>;

/** Rows that are looked at by one statement: it ends long before the time that it may take. */
const PAGE = 5_000;

/**
 * A wait that began later than now, under a clock that was ahead, begins now; one whose beginning is not noted is over.
 */
const RESTART = "due_at = :now::bigint + due_at - coalesce(waits_since, due_at), waits_since = :now::bigint";
const BEGAN_LATER = "state = 'pending' AND due_at > :now AND coalesce(waits_since, due_at) > :now";

const SHORTEN_LEASES = `
  WITH longer AS (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE state = 'leased' AND lease_until > :leaseUntil
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w SET lease_until = :leaseUntil FROM longer
  WHERE w.seq = longer.seq AND w.handler = longer.handler`;

/** A page of work that is due later than now, in the order of an index. */
const PENDING = `
  SELECT seq, handler, due_at, key FROM pigeonhole.inbox_work
  WHERE state = 'pending' AND NOT waits_for_key AND handler = :handler AND least(started - finished, 2) = :crashes
    AND (due_at, seq) > (:dueAt::bigint, :seq::bigint)
  ORDER BY due_at, seq LIMIT ${PAGE}`;
const WAITING_FOR_KEY = `
  SELECT seq, handler, due_at, key FROM pigeonhole.inbox_work
  WHERE waits_for_key AND (handler, key, due_at, seq) > (:handler, :key, :dueAt::bigint, :seq::bigint)
  ORDER BY handler, key, due_at, seq LIMIT ${PAGE}`;

/** Rows that others have locked are restarted by them, or planned again. */
const restartIn = (page: string): string => `
  WITH page AS MATERIALIZED (${page}), wrong AS (
    SELECT seq, handler FROM pigeonhole.inbox_work
    WHERE (seq, handler) IN (SELECT seq, handler FROM page) AND ${BEGAN_LATER}
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  ), restarted AS (
    UPDATE pigeonhole.inbox_work AS w SET ${RESTART} FROM wrong WHERE w.seq = wrong.seq AND w.handler = wrong.handler
    RETURNING 1
  )
  SELECT seq, handler, due_at AS "dueAt", key, (SELECT count(*) FROM restarted) AS restarted
  FROM page OFFSET (SELECT greatest(count(*) - 1, 0) FROM page)`;
const RESTART_PENDING = restartIn(PENDING);
const RESTART_WAITING = restartIn(WAITING_FOR_KEY);

/** The last row of a page. */
interface Reached {
  handler: string;
  key: string;
  dueAt: number;
  seq: number;
}

/**
 * Corrects what was written while the clock was ahead: waits for a next try keep their intended length, and leases end
 * as those given now. Does not read work that is due, and takes a page at a time.
 */
export async function restartWaits(work: Work, limits: { now: number; leaseUntil: number }): Promise<number> {
  const { now } = limits;
  let restarted = await work(async (sql) => {
    await sql.run(SHORTEN_LEASES, limits);
    return sql.run(`UPDATE pigeonhole.outbox_send SET ${RESTART} WHERE ${BEGAN_LATER}`, limits);
  });
  const inPages = async (page: string, from: Reached & { crashes?: number }): Promise<void> => {
    let reached: (Reached & { restarted: number }) | undefined = { ...from, restarted: 0 };
    while (reached !== undefined) {
      const values: object = { ...from, ...reached, now };
      reached = await work((sql) => sql.row<Reached & { restarted: number }>(page, values));
      restarted += reached?.restarted ?? 0;
    }
  };
  const start = { key: "", dueAt: now, seq: Number.MAX_SAFE_INTEGER };
  for (let handler = await work((sql) => nextHandler(sql, "")); handler !== undefined;) {
    for (const crashes of [0, 1, 2]) await inPages(RESTART_PENDING, { ...start, handler, crashes });
    const after = handler;
    handler = await work((sql) => nextHandler(sql, after));
  }
  await inPages(RESTART_WAITING, { ...start, handler: "" });
  return restarted;
}

/** The first handler after a name that has pending work. */
async function nextHandler(sql: Sql, after: string): Promise<string | undefined> {
  const row = await sql.row<{ handler: string }>(
    `SELECT handler FROM pigeonhole.inbox_work WHERE state = 'pending' AND NOT waits_for_key AND handler > :after
     ORDER BY handler LIMIT 1`,
    { after },
  );
  return row?.handler;
}
