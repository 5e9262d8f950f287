import type { Sql } from "../sql.js";

const DISCARD = `
  UPDATE pigeonhole.outbox_event SET state = 'done', settled_at = :now, reason = NULL, message = 'discarded'
  WHERE seq = :seq`;

const REMOVE_CALL = `
  DELETE FROM pigeonhole.outbox_send AS s WHERE send = :send
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_event AS e WHERE e.send = s.send AND e.state = 'dead')
  RETURNING started`;

const FREE_MEMBERS = `
  UPDATE pigeonhole.outbox_event SET send = NULL, position = NULL, attempts = attempts + :started WHERE send = :send`;

/**
 * Ends an event that waits or is dead. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export async function discardContactEvent(
  sql: Sql,
  { seq, send, now }: { seq: number; send: number | null; now: number },
): Promise<void> {
  await sql.run(DISCARD, { seq, now });
  if (send === null) return;
  const call = await sql.row<{ started: number }>(REMOVE_CALL, { send });
  // No dead event is left whose retry would repeat the call.
  if (call !== undefined) await sql.run(FREE_MEMBERS, { send, started: call.started });
}
