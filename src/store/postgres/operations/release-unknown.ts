import type { Sql } from "../sql.js";
import { notLeased } from "./not-leased.js";
import { SERVER_TIME } from "./server-time.js";

const RELEASE_WORK = `
  WITH given AS MATERIALIZED (
    SELECT seq, handler FROM pigeonhole.inbox_work
    WHERE state = 'leased' AND node = :node AND lease = ANY(:tokens::bigint[])
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w
  SET ${notLeased(SERVER_TIME)}
  FROM given JOIN pigeonhole.inbox_event AS e USING (seq) WHERE w.seq = given.seq AND w.handler = given.handler`;

const RELEASE_SENDS = `
  UPDATE pigeonhole.outbox_send
  SET state = 'pending', due_at = ${SERVER_TIME}, lease = NULL, lease_until = NULL, node = NULL, started = started - 1
  WHERE state = 'leased' AND node = :node AND lease = ANY(:tokens::bigint[])`;

/** Makes work and calls pending that were leased under these tokens, as if they had not been leased. */
export async function releaseUnknown(sql: Sql, node: number, tokens: readonly number[]): Promise<void> {
  await sql.run(RELEASE_WORK, { node, tokens });
  await sql.run(RELEASE_SENDS, { node, tokens });
}
