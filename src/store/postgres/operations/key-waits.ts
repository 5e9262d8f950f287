import type { LeaseRequest } from "../../store.js";
import type { Sql } from "../sql.js";
import { IS_HELD } from "./keys.js";

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
        SELECT 1 FROM pigeonhole.inbox_key AS k WHERE k.handler = :handler AND k.key = waiting.key AND ${IS_HELD})
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
