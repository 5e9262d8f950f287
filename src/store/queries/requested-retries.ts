import { NO_HANDLER, NOTE_HANDLER } from "../../base/note-handler.js";
import { type StoreQuery, readRows, run } from "./store-query.js";

/** An event, and when it is changed. */
export interface EventAt {
  seq: number;
  now: number;
}

/** Asks a receiver to read an event again that was not understood: its note waits from now on. */
export function* requestRetry({ seq, now }: EventAt): StoreQuery<boolean> {
  const found = yield* run(
    `UPDATE pigeonhole.inbox_work SET waits_since = coalesce(waits_since, :now)
     WHERE seq = :seq AND handler = '${NOTE_HANDLER}' AND state = 'parked'
       AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = :seq)`,
    { seq, now },
  );
  return found === 1;
}

/**
 * Asks a receiver to read an event again that no handler got, or whose note was discarded: it is parked until then.
 * Does nothing with an event that has no body.
 */
export function* requestReading({ seq, now }: EventAt): StoreQuery<boolean> {
  yield* run(
    `INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, settled_at, started, finished, reason)
     SELECT seq, '${NOTE_HANDLER}', 'parked', :now::bigint, 0, 0, '${NO_HANDLER}' FROM pigeonhole.inbox_body WHERE seq = :seq
     ON CONFLICT (seq, handler) DO UPDATE
       SET state = 'parked', settled_at = excluded.settled_at, reason = excluded.reason, discarded = false
       WHERE w.discarded`,
    { seq, now },
  );
  return yield* requestRetry({ seq, now });
}

/** Events whose note waits, oldest first. */
export function listRequested(page: { limit: number; afterSeq: number }): StoreQuery<{ seq: number; id: string }[]> {
  return readRows(
    `SELECT w.seq, e.id FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
       JOIN pigeonhole.inbox_body AS b ON b.seq = w.seq
     WHERE w.handler = '' AND w.state = 'parked' AND w.waits_since IS NOT NULL AND w.seq > :afterSeq
     ORDER BY w.seq LIMIT :limit`,
    page,
  );
}
