import { HISTORIES } from "../../queries/history.js";
import { BLOCKING_TRIES } from "../../queries/outbox-calls.js";
import type { Glance } from "../../store.js";
import type { Sql } from "../sql.js";
import { HAS_ORPHANS, type ProcessLock, expiredBefore } from "./recover.js";
import { SERVER_TIME } from "../database-clock.js";

/** Each part reads the first row that fits of an index, so that the cost does not grow with what is stored. */
const GLANCE = `
  SELECT
    ARRAY(
      SELECT handler FROM unnest(:handlers::text[]) AS h (handler)
      WHERE EXISTS (
        SELECT 1 FROM pigeonhole.inbox_work AS w
        WHERE w.state = 'pending' AND NOT w.waits_for_key AND w.handler = h.handler
          AND least(w.started - w.finished, 2) IN (0, 1, 2) AND w.due_at <= :now)
      OR EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.waits_for_key AND w.handler = h.handler)
      OR EXISTS (SELECT 1 FROM pigeonhole.inbox_job WHERE ${HISTORIES.replace(":handler", "h.handler")})) AS due,
    EXISTS (
      SELECT 1 FROM pigeonhole.inbox_work WHERE handler = '' AND state = 'parked' AND waits_since IS NOT NULL
    ) AS requested,
    NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state = 'leased') AND (
      EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state = 'pending' AND due_at <= :now)
      OR NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state <> 'dead' AND started < ${BLOCKING_TRIES})
      AND EXISTS (SELECT 1 FROM pigeonhole.outbox_event WHERE state = 'pending' AND occurred_at <= :now)
    ) AS "contactEvents",
    ARRAY(SELECT handler FROM pigeonhole.inbox_paused) AS paused,
    ${HAS_ORPHANS} AS orphans,
    ${SERVER_TIME} AS "serverTime"`;

export async function glance(
  sql: Sql,
  lock: ProcessLock,
  request: { handlers: readonly string[]; now: number },
): Promise<Glance & { serverTime: number }> {
  const found = await sql.row<Glance & { serverTime: number }>(GLANCE, {
    ...lock,
    expiredBefore: expiredBefore(lock, request.now),
    ...request,
  });
  return found ?? { due: [], requested: false, contactEvents: false, orphans: false, paused: [], serverTime: 0 };
}
