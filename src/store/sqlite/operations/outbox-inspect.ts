import type { Database } from "better-sqlite3";
import type { OutboxCounts, OutboxDeadReason, OutboxPage, OutboxQuery, OutboxState, OutboxView } from "../../outbox.js";
import { OUTBOX_STATES } from "../../outbox.js";
import { pageLimit } from "../../inbox-view.js";
import { type Nullable, checkState, readSeqCursor, withoutNulls } from "./page.js";

type Row = Pick<OutboxView, "seq" | "key" | "state" | "body" | "recordedAt" | "occurredAt"> &
  Nullable<Pick<OutboxView, "settledAt" | "remoteId" | "reason" | "code" | "param" | "message">>;

/** Events that no call has taken yet. Events that were sent before cost nothing here. */
const IS_NEW = "seq > (SELECT value FROM counter WHERE name = 'outbox_taken') AND state = 'pending'";

/** Found through the open calls, which are few; a query by state alone would read all rows. */
const IS_LEASED = "send IN (SELECT send FROM outbox_send WHERE state <> 'dead') AND state = 'leased'";

/**
 * The rows in each state. Events that came back from a call are pending, as new ones are: the newest of both are read,
 * so that the cost does not exceed one page.
 */
const FILTERS: Record<OutboxState, string> = {
  pending: `seq IN (
    SELECT seq FROM outbox_event WHERE state = 'again' AND seq < :before
    UNION ALL SELECT seq FROM outbox_event WHERE ${IS_NEW} AND seq < :before
    ORDER BY seq DESC LIMIT :most)`,
  leased: `seq IN (SELECT seq FROM outbox_event WHERE ${IS_LEASED})`,
  done: "state = 'done'",
  dead: "state = 'dead'",
};

function filterOf(state: OutboxState): string {
  checkState(state, OUTBOX_STATES);
  return FILTERS[state];
}

/** Reads contact events, newest first. */
export function prepareListOutbox(db: Database) {
  return (query: OutboxQuery): OutboxPage => {
    const limit = pageLimit.read("limit", query.limit);
    const filters = ["seq < :before", ...(query.state === undefined ? [] : [filterOf(query.state)])];
    const rows = db
      .prepare<object, Row>(
        `SELECT seq, key, iif(state = 'again', 'pending', state) AS state, body, recorded_at AS recordedAt, occurred_at AS occurredAt, settled_at AS settledAt,
           remote_id AS remoteId, reason, code, param, message
         FROM outbox_event WHERE ${filters.join(" AND ")} ORDER BY seq DESC LIMIT :most`,
      )
      .all({ before: readSeqCursor(query.cursor), most: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      items: page.map((row) => withoutNulls<OutboxView>(row)),
      nextCursor: rows.length > limit ? String(page.at(-1)?.seq) : undefined,
    };
  };
}

/** Makes a dead event pending. If its outcome is unknown, its whole call is repeated unchanged. */
export function prepareRetryOutbox(db: Database) {
  const select = db.prepare<{ key: string }, { seq: number; send: number | null; reason: OutboxDeadReason }>(
    "SELECT seq, send, reason FROM outbox_event WHERE key = :key AND state = 'dead'",
  );
  const reviveOne = db.prepare(`
    UPDATE outbox_event SET state = 'again', settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL
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
 * Ends an event that is not being sent. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export function prepareDiscardOutbox(db: Database) {
  const select = db.prepare<{ key: string }, { seq: number; send: number | null }>(`
    SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'dead'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'again'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND ${IS_NEW}
    LIMIT 1`);
  const discard = prepareDiscardContactEvent(db);
  return ({ key, now }: { key: string; now: number }): boolean => {
    const event = select.get({ key });
    if (event === undefined) return false;
    discard({ ...event, now });
    return true;
  };
}

/**
 * Ends an event that waits or is dead. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export function prepareDiscardContactEvent(db: Database) {
  const discard = db.prepare(`
    UPDATE outbox_event SET state = 'done', settled_at = :now, reason = NULL, message = 'discarded' WHERE seq = :seq`);
  const removeSend = db.prepare(`
    DELETE FROM outbox_send WHERE send = :send
      AND NOT EXISTS (SELECT 1 FROM outbox_event AS e WHERE e.send = :send AND e.state = 'dead')`);
  const freeMembers = db.prepare("UPDATE outbox_event SET send = NULL, position = NULL WHERE send = :send");

  return ({ seq, send, now }: { seq: number; send: number | null; now: number }): void => {
    discard.run({ seq, now });
    // No dead event is left whose retry would repeat the call.
    if (send !== null && removeSend.run({ send }).changes === 1) freeMembers.run({ send });
  };
}

export function prepareCountOutbox(db: Database) {
  const count = db.prepare<[], { state: OutboxState; events: number; oldest: number | null }>(`
    SELECT 'pending' AS state, count(*) AS events, min(recorded_at) AS oldest FROM outbox_event WHERE ${IS_NEW}
    UNION ALL SELECT 'pending', count(*), min(recorded_at) FROM outbox_event WHERE state = 'again'
    UNION ALL SELECT 'leased', count(*), min(recorded_at) FROM outbox_event WHERE ${IS_LEASED}
    UNION ALL SELECT 'dead', count(*), NULL FROM outbox_event WHERE state = 'dead'`);
  return (): OutboxCounts => {
    const counts: OutboxCounts = { pending: 0, leased: 0, dead: 0, oldestRecordedAt: undefined };
    for (const { state, events, oldest } of count.all()) {
      if (state !== "done") counts[state] += events;
      if (oldest !== null) counts.oldestRecordedAt = Math.min(oldest, counts.oldestRecordedAt ?? oldest);
    }
    return counts;
  };
}
