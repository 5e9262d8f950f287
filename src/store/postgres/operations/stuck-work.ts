import type { StuckPiece } from "../../inbox-operator.js";
import { RESET, lockBodies, retryPiece } from "../../queries/replan.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";
import { ended } from "./ended.js";

/** Pieces of stuck work, and when they are changed. */
interface StuckPieces {
  pieces: readonly StuckPiece[];
  now: number;
}

const RESET_PIECES = `
  UPDATE pigeonhole.inbox_work AS w SET ${RESET}
  FROM unnest(:seqs::bigint[], :handlers::text[]) AS p (seq, handler)
  WHERE w.seq = p.seq AND w.handler = p.handler AND state IN ('dead', 'parked')
    AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = w.seq)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_other AS o WHERE o.seq = w.seq OR o.first = w.seq)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_holder AS h WHERE h.first = w.seq)
  RETURNING w.seq, w.handler`;

/**
 * Makes stuck pieces pending, with their counters at 0, and returns them. Pieces of events with other bodies are left.
 * In one transaction.
 */
export async function resetPieces(sql: Sql, { pieces, now }: StuckPieces): Promise<StuckPiece[]> {
  // Another body that comes meanwhile waits, and then finds the work pending.
  await sql.run("SELECT 1 FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs) ORDER BY seq FOR UPDATE", {
    seqs: pieces.map(({ seq }) => seq),
  });
  return sql.rows(RESET_PIECES, { ...columnsOf(pieces), now });
}

/** What became of a piece: `left` when it was not changed. */
type BesideOthers = "pending" | "ended" | "left";

/**
 * Makes a stuck piece of an event with other bodies pending, unless its handler has another one; then it ends. In one
 * transaction.
 */
export async function resetPieceBesideOthers(sql: Sql, piece: StuckPiece & { now: number }): Promise<BesideOthers> {
  const { hasOthers } = await runOnServer(sql, lockBodies(piece.seq));
  if (!hasOthers || (await countStillStuck(sql, [piece])) === 0) return "left";
  if ((await runOnServer(sql, retryPiece(piece))) === 1) return "pending";
  return (await countStillStuck(sql, [piece])) === 0 ? "ended" : "left";
}

/** How many of the pieces are dead or parked now. */
export async function countStillStuck(sql: Sql, pieces: readonly StuckPiece[]): Promise<number> {
  if (pieces.length === 0) return 0;
  const row = await sql.row<{ stuck: number }>(
    `SELECT count(*) AS stuck FROM pigeonhole.inbox_work AS w
     JOIN unnest(:seqs::bigint[], :handlers::text[]) AS p (seq, handler) ON w.seq = p.seq AND w.handler = p.handler
     WHERE w.state IN ('dead', 'parked')`,
    columnsOf(pieces),
  );
  return row?.stuck ?? 0;
}

/** Ends stuck pieces without running them. Returns those that ended. */
export function endPieces(sql: Sql, { pieces, now }: StuckPieces): Promise<StuckPiece[]> {
  return sql.rows(
    `WITH held AS MATERIALIZED (
       SELECT w.seq, w.handler FROM pigeonhole.inbox_work AS w
       JOIN unnest(:seqs::bigint[], :handlers::text[]) AS p (seq, handler) ON w.seq = p.seq AND w.handler = p.handler
       WHERE w.state IN ('dead', 'parked') ORDER BY w.seq, w.handler FOR UPDATE OF w
     )
     UPDATE pigeonhole.inbox_work AS w SET ${ended(":now::bigint")}, discarded = true
     FROM held WHERE w.seq = held.seq AND w.handler = held.handler RETURNING w.seq, w.handler`,
    { ...columnsOf(pieces), now },
  );
}

const columnsOf = (pieces: readonly StuckPiece[]) => ({
  seqs: pieces.map(({ seq }) => seq),
  handlers: pieces.map(({ handler }) => handler),
});
