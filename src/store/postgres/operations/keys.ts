import { digestOf } from "../../queries/newest.js";
import type { LeaseRequest } from "../../store.js";
import type { Lease } from "../../work.js";
import type { Sql } from "../sql.js";
import { LEASES, givenRows, listsOf, notLeased } from "./given-rows.js";
import { SERVER_TIME } from "../database-clock.js";

export interface KeyRequest {
  lease: Lease;
  key: string;
}

const REQUESTS = `${LEASES}, key text`;
const GIVEN = `WITH given AS (SELECT * FROM ${givenRows(REQUESTS)})`;

/** One lock for each key, of this schema alone; in one order, so that two transactions never wait for each other. */
const LOCK = `${GIVEN}
  SELECT pg_advisory_xact_lock(number) FROM (
    SELECT DISTINCT hashtextextended('pigeonhole.' || handler || ' ' || key, 0) AS number FROM given ORDER BY number
  ) AS n`;

/** Leased work has the key that it was given under its lease. */
const TAKE = `${GIVEN}, first AS (
    SELECT DISTINCT ON (handler, key) * FROM given ORDER BY handler, key, place
  )
  UPDATE pigeonhole.inbox_work AS w SET key = g.key, key_lease = g.token FROM first AS g
  WHERE w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token
    AND NOT EXISTS (
      SELECT 1 FROM pigeonhole.inbox_work AS h
      WHERE h.handler = g.handler AND h.key = g.key AND NOT h.waits_for_key AND h.key_lease = h.lease AND h.seq <> g.seq)
  RETURNING g.place`;

/** In one order, so that two transactions never wait for each other. */
const WAIT_FOR_KEY = `${GIVEN}, refused AS MATERIALIZED (
    SELECT w.seq, w.handler, g.key FROM pigeonhole.inbox_work AS w JOIN given AS g
      ON w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token
    WHERE g.place <> ALL(:taken::bigint[]) ORDER BY w.seq, w.handler FOR UPDATE OF w
  )
  UPDATE pigeonhole.inbox_work AS w
  SET ${notLeased(SERVER_TIME)}, key = r.key, waits_for_key = true
  FROM refused AS r JOIN pigeonhole.inbox_event AS e ON e.seq = r.seq WHERE w.seq = r.seq AND w.handler = r.handler`;

/**
 * Gives each key to the work that asks for it, unless other leased work has it, or its own lease has ended. Work that
 * does not get its key waits for it, as if it had not been leased. The keys are locked in a statement of their own: one
 * that waited for a lock would not see the keys that were given meanwhile.
 */
export function holdKeys(sql: Sql, requests: readonly KeyRequest[]): Promise<boolean[]> {
  const rows = requests.map(({ lease, key }) => ({ ...lease, key: digestOf(key) }));
  const values = listsOf(REQUESTS, rows);
  return sql.transaction(async () => {
    await sql.run(LOCK, values);
    const taken = (await sql.rows<{ place: number }>(TAKE, values)).map(({ place }) => place);
    if (taken.length < requests.length) await sql.run(WAIT_FOR_KEY, { ...values, taken });
    const places = new Set(taken);
    return requests.map((_, index) => places.has(index + 1));
  });
}

/** So many keys are freed at once. */
const MAX_KEYS = 64;
/** Of a page, so much may be work of one key: there is room for other keys. */
const SHARE = 1 / 4;

/**
 * Looks through the keys for which work waits, for those that no work has or is about to get. Held keys are passed
 * over: they are as many as handlers run.
 */
const END_WAITS = `
  WITH RECURSIVE waiting AS (
    (SELECT key FROM pigeonhole.inbox_work WHERE waits_for_key AND handler = :handler ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (
      SELECT w.key FROM pigeonhole.inbox_work AS w WHERE w.waits_for_key AND w.handler = :handler AND w.key > waiting.key
      ORDER BY w.key LIMIT 1)
    FROM waiting WHERE waiting.key IS NOT NULL
  ), free AS (
    SELECT waiting.key FROM waiting
    WHERE waiting.key IS NOT NULL
      AND NOT EXISTS (
        SELECT 1 FROM pigeonhole.inbox_work AS w
        WHERE w.handler = :handler AND w.key = waiting.key AND NOT w.waits_for_key
          AND (w.state = 'leased' OR (w.state = 'pending' AND w.due_at <= :now)))
    LIMIT :maxKeys
  ), next AS MATERIALIZED (
    SELECT w.seq FROM free CROSS JOIN LATERAL (
      SELECT n.seq FROM pigeonhole.inbox_work AS n
      WHERE n.waits_for_key AND n.handler = :handler AND n.key = free.key
      ORDER BY n.due_at, n.seq LIMIT :most FOR UPDATE SKIP LOCKED) AS w
  )
  UPDATE pigeonhole.inbox_work AS w SET waits_for_key = false FROM next WHERE w.seq = next.seq AND w.handler = :handler`;

/**
 * Makes due some of the work of a handler that waits for a key which is free now, the longest waiting of each key
 * first. Returns how many pieces.
 */
export function endWaits(sql: Sql, { handler, now, limit }: LeaseRequest): Promise<number> {
  const most = Math.max(1, Math.floor(limit * SHARE));
  return sql.run(END_WAITS, { handler, now, most, maxKeys: MAX_KEYS });
}
