import type { StuckPiece } from "../../inbox-operator.js";
import { findWaiting } from "../../queries/waiting-work.js";
import type { RunPage, RunRequest } from "../../waiting-work.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";
import { SERVER_WORDS } from "../words.js";

/**
 * Makes a page of chosen work due that waits for its next run; its attempts stay. What is leased, settled or discarded
 * meanwhile is left. In one transaction.
 */
export async function runWork(sql: Sql, request: RunRequest): Promise<RunPage> {
  const { pieces, next } = await runOnServer(sql, findWaiting(SERVER_WORDS, request));
  if (pieces.length === 0) return { pieces: [], next };
  const ran = await sql.rows<StuckPiece>(
    `WITH held AS MATERIALIZED (
       SELECT w.seq, w.handler FROM pigeonhole.inbox_work AS w
       JOIN unnest(:seqs::bigint[], :handlers::text[]) AS p (seq, handler) ON w.seq = p.seq AND w.handler = p.handler
       WHERE ${SERVER_WORDS.waits} AND due_at > :now ORDER BY w.seq, w.handler FOR UPDATE OF w
     )
     UPDATE pigeonhole.inbox_work AS w SET due_at = :now::bigint, waits_since = NULL
     FROM held WHERE w.seq = held.seq AND w.handler = held.handler
     RETURNING w.seq, w.handler`,
    { seqs: pieces.map(({ seq }) => seq), handlers: pieces.map(({ handler }) => handler), now: request.now },
  );
  return { pieces: ran, next };
}
