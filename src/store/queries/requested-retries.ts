import { NO_HANDLER, NOTE_HANDLER } from "../../base/note-handler.js";
import { type StoreQuery, run } from "./store-query.js";

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
