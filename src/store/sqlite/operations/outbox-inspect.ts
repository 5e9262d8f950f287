import type { Database } from "better-sqlite3";
import type { OutboxCounts, OutboxDeadReason, OutboxPage, OutboxQuery, OutboxState, OutboxView } from "../../outbox.js";
import { type Nullable, checkPageLimit, readSeqCursor, withoutNulls } from "./page.js";

type Row = Pick<OutboxView, "seq" | "key" | "state" | "body" | "recordedAt" | "occurredAt"> &
  Nullable<Pick<OutboxView, "settledAt" | "remoteId" | "reason" | "code" | "param" | "message">>;

/** Reads contact events, newest first. */
export function prepareListOutbox(db: Database) {
  return (query: OutboxQuery): OutboxPage => {
    const limit = checkPageLimit(query.limit);
    const filters = ["seq < :before", ...(query.state === undefined ? [] : ["state = :state"])];
    const rows = db
      .prepare<object, Row>(
        `SELECT seq, key, state, body, recorded_at AS recordedAt, occurred_at AS occurredAt, settled_at AS settledAt,
           remote_id AS remoteId, reason, code, param, message
         FROM outbox_event WHERE ${filters.join(" AND ")} ORDER BY seq DESC LIMIT :most`,
      )
      .all({ before: readSeqCursor(query.cursor), state: query.state, most: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      items: page.map((row) => withoutNulls<OutboxView>(row)),
      nextCursor: rows.length > limit ? String(page.at(-1)?.seq) : undefined,
    };
  };
}

/** Gives a dead event another chance. One whose outcome is unknown takes its whole call with it, exactly as it was. */
export function prepareRetryOutbox(db: Database) {
  const select = db.prepare<{ key: string }, { seq: number; send: number | null; reason: OutboxDeadReason }>(
    "SELECT seq, send, reason FROM outbox_event WHERE key = :key AND state = 'dead'",
  );
  const reviveOne = db.prepare(`
    UPDATE outbox_event SET state = 'pending', settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL
    WHERE seq = :seq`);
  const reviveMembers = db.prepare(`
    UPDATE outbox_event
    SET state = 'leased', settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL
    WHERE send = :send AND state = 'dead'`);
  const reviveSend = db.prepare("UPDATE outbox_send SET state = 'pending', due_at = :now WHERE send = :send");

  return ({ key, now }: { key: string; now: number }): boolean => {
    const event = select.get({ key });
    if (event === undefined) return false;
    if (event.send === null) {
      reviveOne.run({ seq: event.seq });
    } else {
      reviveMembers.run({ send: event.send });
      reviveSend.run({ send: event.send, now });
    }
    return true;
  };
}

/**
 * Ends an event that is not on its way. The key stays, so that a rerun does not record it again; so does its place in a call whose
 * outcome is unknown, since that call may only be repeated as it was.
 */
export function prepareDiscardOutbox(db: Database) {
  const discard = db
    .prepare<{ key: string; now: number }, number | null>(
      `UPDATE outbox_event SET state = 'done', settled_at = :now, reason = NULL, message = 'discarded'
       WHERE key = :key AND state IN ('pending', 'dead') RETURNING send`,
    )
    .pluck();
  const removeSend = db.prepare(`
    DELETE FROM outbox_send WHERE send = :send
      AND NOT EXISTS (SELECT 1 FROM outbox_event AS e WHERE e.send = :send AND e.state = 'dead')`);
  const freeMembers = db.prepare("UPDATE outbox_event SET send = NULL, position = NULL WHERE send = :send");

  return ({ key, now }: { key: string; now: number }): boolean => {
    const send = discard.get({ key, now });
    if (send === undefined) return false;
    // Nobody is left who could have the call repeated.
    if (send !== null && removeSend.run({ send }).changes === 1) freeMembers.run({ send });
    return true;
  };
}

export function prepareCountOutbox(db: Database) {
  const count = db.prepare<[], { state: OutboxState; events: number; oldest: number }>(`
    SELECT state, count(*) AS events, min(recorded_at) AS oldest FROM outbox_event
    WHERE state IN ('pending', 'leased', 'dead') GROUP BY state`);
  return (): OutboxCounts => {
    const rows = new Map(count.all().map((row) => [row.state, row]));
    const oldest = [rows.get("pending"), rows.get("leased")].flatMap((row) => (row === undefined ? [] : [row.oldest]));
    return {
      pending: rows.get("pending")?.events ?? 0,
      leased: rows.get("leased")?.events ?? 0,
      dead: rows.get("dead")?.events ?? 0,
      oldestRecordedAt: oldest.length === 0 ? undefined : Math.min(...oldest),
    };
  };
}
