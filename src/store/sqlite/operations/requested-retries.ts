import type { Database } from "better-sqlite3";
import { NO_HANDLER, NOTE_HANDLER } from "../../../base/note-handler.js";
import { OPEN } from "./open-work.js";

const note = NOTE_HANDLER;

/** Is there while a note may wait, so that an idle receiver reads one row, however many events are parked. */
const FLAG = "retries_requested";

/**
 * Asks the receiver to read an event again that was not understood: its note waits from now on.
 */
export function prepareRequestRetry(db: Database) {
  const setWaiting = db.prepare(`
    UPDATE inbox_work SET waits_since = coalesce(waits_since, :now)
    WHERE seq = :seq AND handler = :note AND state = 'parked'
      AND EXISTS (SELECT 1 FROM inbox_body AS b WHERE b.seq = inbox_work.seq)`);
  const setFlag = db.prepare(`
    INSERT INTO counter (name, value) VALUES ('${FLAG}', 1) ON CONFLICT (name) DO NOTHING`);

  return ({ seq, now }: { seq: number; now: number }): boolean => {
    if (setWaiting.run({ seq, note, now }).changes === 0) return false;
    setFlag.run();
    return true;
  };
}

/**
 * Asks the receiver to read an event again that no handler got: it is parked until then. Does nothing with an event
 * that has work, or no body.
 */
export function prepareRequestReading(db: Database) {
  const addNote = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, reason)
    SELECT seq, :note, 'parked', :now, 0, 0, '${NO_HANDLER}' FROM inbox_body WHERE seq = :seq
    ON CONFLICT (seq, handler) DO NOTHING`);
  const requestRetry = prepareRequestRetry(db);

  return ({ seq, now }: { seq: number; now: number }): boolean => {
    addNote.run({ seq, note, now });
    return requestRetry({ seq, now });
  };
}

/** Events whose note waits, oldest first. */
export function prepareListRequested(db: Database) {
  const selectFlag = db.prepare(`SELECT 1 FROM counter WHERE name = '${FLAG}'`);
  const dropFlag = db.prepare(`DELETE FROM counter WHERE name = '${FLAG}'`);
  const selectWaiting = db.prepare<object, { seq: number; id: string }>(`
    SELECT w.seq, e.id FROM inbox_work AS w JOIN inbox_event AS e ON e.seq = w.seq JOIN inbox_body AS b ON b.seq = w.seq
    WHERE w.${OPEN} AND w.state = 'parked' AND w.handler = :note AND w.waits_since IS NOT NULL AND w.seq > :afterSeq
    ORDER BY w.seq LIMIT :limit`);

  return ({ limit, afterSeq }: { limit: number; afterSeq: number }): { seq: number; id: string }[] => {
    if (selectFlag.get() === undefined) return [];
    const waiting = selectWaiting.all({ note, limit, afterSeq });
    if (waiting.length === 0 && afterSeq === 0) dropFlag.run();
    return waiting;
  };
}
