import type { Sql } from "../sql.js";
import { HELD_LOCKS } from "../advisory-lock.js";
import type { NodeLock } from "./recover.js";

/**
 * Takes the one row, or keeps it. Another process gets it when its holder has gone or has not used it for a minute, in
 * which the service's limit has passed: so each minute has the calls of one process. Never during a call.
 */
const MAY_SEND = `
  INSERT INTO pigeonhole.outbox_sender AS s (id, process, used_at) VALUES (1, :node, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET process = excluded.process, used_at = excluded.used_at
  WHERE s.process = excluded.process OR (
    NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state = 'leased')
    AND (s.used_at < clock_timestamp() - interval '1 minute'
      OR NOT EXISTS (SELECT 1 FROM ${HELD_LOCKS} WHERE number = s.process)))`;

export async function maySend(sql: Sql, { node, lockClass }: NodeLock): Promise<boolean> {
  return (await sql.run(MAY_SEND, { node, lockClass })) === 1;
}
