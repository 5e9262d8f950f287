import type { Database } from "better-sqlite3";
import type { ReplanPlan } from "../../store.js";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { CLEAR_FAILURE } from "./note-failure.js";
import { prepareOtherBytes } from "./other-bytes.js";
import { prepareAddNote } from "./parked-note.js";

const note = NOTE_HANDLER;

/** Work that a person may end. */
export const MAY_END = "state IN ('pending', 'dead', 'parked')";

/** Ends work without a run; takes `:now`. What it keeps of a failed run may quote the body. */
const DISCARD = `
  state = 'done', discarded = 1, settled_at = :now, due_at = NULL, waits_since = NULL, reason = NULL, error = NULL,
  ${CLEAR_FAILURE}`;

/** Makes the stuck work of an event pending, with its counters at 0, and adds missing work. */
export function prepareReplan(db: Database) {
  const hasBody = db.prepare("SELECT 1 FROM inbox_body WHERE seq = :seq");
  const isRequested = db.prepare(`
    SELECT 1 FROM inbox_work WHERE seq = :seq AND handler = :note AND state = 'parked' AND waits_since IS NOT NULL`);
  const dropNote = db.prepare("DELETE FROM inbox_work WHERE seq = :seq AND handler = :note");
  const addNote = prepareAddNote(db);
  const resetStuck = db.prepare(`
    UPDATE inbox_work
    SET state = 'pending', due_at = :now, settled_at = NULL, reason = NULL, started = 0, finished = 0, ${CLEAR_FAILURE}
    WHERE seq = :seq AND handler <> :note AND state IN ('dead', 'parked')`);
  const resetOne = prepareResetOne(db);
  const addWork = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished)
    VALUES (:seq, :handler, 'pending', :now, 0, 0)
    ON CONFLICT (seq, handler) DO UPDATE
      SET state = 'pending', due_at = excluded.due_at, settled_at = NULL, started = 0, finished = 0, discarded = 0
      WHERE discarded = 1`);
  const selectStuck = db
    .prepare<{ seq: number; note: string }, string>(
      "SELECT handler FROM inbox_work WHERE seq = :seq AND handler <> :note AND state IN ('dead', 'parked')",
    )
    .pluck();
  const takeOrEnd = prepareTakeOrEnd(db);

  /** The handlers that may have this body of its id; for the others its work ends here. */
  function takeFromOthers({ seq, handlers, parked, now }: ReplanPlan): readonly string[] {
    const wanted = new Set(parked === undefined ? [...handlers, ...selectStuck.all({ seq, note })] : handlers);
    const refused = [...wanted].filter((handler) => !takeOrEnd({ seq, handler, now }));
    return handlers.filter((handler) => !refused.includes(handler));
  }

  return (plan: ReplanPlan): number => {
    const { seq, now } = plan;
    // Retention has dropped the body, and work without one could never be leased.
    if (hasBody.get({ seq }) === undefined) return 0;
    // It may have been read again, discarded or erased meanwhile.
    if (plan.requested === true && isRequested.get({ seq, note }) === undefined) return 0;
    dropNote.run({ seq, note });
    if (plan.parked !== undefined) addNote({ seq, at: now }, plan.parked);
    const handlers = takeFromOthers(plan);
    let pending = plan.parked === undefined ? resetStuck.run({ seq, note, now }).changes : 0;
    for (const handler of handlers) {
      pending += addWork.run({ seq, handler, now }).changes + resetOne({ seq, handler, now });
    }
    return pending;
  };
}

/** One event for one handler, and when it is changed. */
export interface PieceAt {
  seq: number;
  handler: string;
  now: number;
}

/** Makes one piece of stuck work pending, with its counters at 0; returns how many pieces, 0 without a body. */
export function prepareRetryPiece(db: Database) {
  const takeOrEnd = prepareTakeOrEnd(db);
  const resetOne = prepareResetOne(db);
  return (piece: PieceAt): number => (takeOrEnd(piece) ? resetOne(piece) : 0);
}

function prepareResetOne(db: Database) {
  const reset = db.prepare(`
    UPDATE inbox_work
    SET state = 'pending', due_at = :now, settled_at = NULL, reason = NULL, started = 0, finished = 0, ${CLEAR_FAILURE}
    WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked')
      AND EXISTS (SELECT 1 FROM inbox_body AS b WHERE b.seq = inbox_work.seq)`);
  return (piece: PieceAt): number => reset.run(piece).changes;
}

/** Gives this body of its id to a handler. False if the handler has another body; its stuck work with this one ends. */
function prepareTakeOrEnd(db: Database) {
  const otherBytes = prepareOtherBytes(db);
  const end = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, discarded)
    VALUES (:seq, :handler, 'done', :now, 0, 0, 1)
    ON CONFLICT (seq, handler) DO UPDATE SET ${DISCARD} WHERE state IN ('dead', 'parked')`);

  return (piece: PieceAt): boolean => {
    const { seq, handler } = piece;
    const first = otherBytes.firstOf(seq);
    if (first === undefined || otherBytes.take({ first, handler, seq })) return true;
    end.run(piece);
    return false;
  };
}

/** Ends work of the event with this id; returns how many pieces. */
export function prepareDiscard(db: Database) {
  const selectSeq = db.prepare<{ id: string }, number>("SELECT seq FROM inbox_event WHERE id = :id").pluck();
  const endWork = prepareEndWork(db);
  return ({ id, now }: { id: string; now: number }): number => {
    const seq = selectSeq.get({ id });
    return seq === undefined ? 0 : endWork({ seq, now });
  };
}

/** Ends one piece of stuck work without running it; returns how many pieces. */
export function prepareEndPiece(db: Database) {
  const end = db.prepare(
    `UPDATE inbox_work SET ${DISCARD} WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked')`,
  );
  return (piece: PieceAt): number => end.run(piece).changes;
}

/** Ends work of an event without running it. Leased work is left to its run. */
export function prepareEndWork(db: Database) {
  const end = db.prepare(`UPDATE inbox_work SET ${DISCARD} WHERE seq = :seq AND ${MAY_END}`);
  return (event: { seq: number; now: number }): number => end.run(event).changes;
}
