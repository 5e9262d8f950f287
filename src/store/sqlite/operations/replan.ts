import type { Database } from "better-sqlite3";
import type { ParkedNote } from "../../work.js";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { prepareOtherBytes } from "./other-bytes.js";

/** Input of a replan. */
export interface ReplanInput {
  seq: number;
  handlers: readonly string[];
  parked?: ParkedNote;
  now: number;
}

const note = NOTE_HANDLER;

/** Makes the stuck work of an event pending, with its counters at 0, and adds missing work. */
export function prepareReplan(db: Database) {
  const hasBody = db.prepare("SELECT 1 FROM inbox_body WHERE seq = :seq");
  const dropNote = db.prepare("DELETE FROM inbox_work WHERE seq = :seq AND handler = :note");
  const dropDiscardedNote = db.prepare("DELETE FROM inbox_done WHERE seq = :seq AND handler = :note");
  const addNote = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, reason, error)
    VALUES (:seq, :note, 'parked', :now, 0, 0, :reason, :detail)`);
  const resetStuck = db.prepare(`
    UPDATE inbox_work
    SET state = 'pending', due_at = :now, settled_at = NULL, reason = NULL, started = 0, finished = 0
    WHERE seq = :seq AND handler <> :note AND state IN ('dead', 'parked')`);
  const resetOne = db.prepare(`
    UPDATE inbox_work
    SET state = 'pending', due_at = :now, settled_at = NULL, reason = NULL, started = 0, finished = 0
    WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked')`);
  const addWork = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished)
    SELECT :seq, :handler, 'pending', :now, 0, 0
    WHERE NOT EXISTS (SELECT 1 FROM inbox_done WHERE seq = :seq AND handler = :handler AND discarded = 0)
    ON CONFLICT (seq, handler) DO NOTHING`);
  const dropDiscardMark = db.prepare(`
    DELETE FROM inbox_done WHERE seq = :seq AND handler = :handler AND discarded = 1`);

  const selectStuck = db
    .prepare<{ seq: number; note: string }, string>(
      "SELECT handler FROM inbox_work WHERE seq = :seq AND handler <> :note AND state IN ('dead', 'parked')",
    )
    .pluck();
  const endStuck = db
    .prepare<{ seq: number; handler: string }, number>(`
    DELETE FROM inbox_work WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked') RETURNING started`)
    .pluck();
  const markEnded = db.prepare(`
    INSERT INTO inbox_done (seq, handler, settled_at, attempts, discarded) VALUES (:seq, :handler, :now, :attempts, 1)
    ON CONFLICT (seq, handler) DO NOTHING`);
  const otherBytes = prepareOtherBytes(db);

  /** The handlers that may have this body of its id; for the others its work ends here. */
  function takeFromOthers(first: number, { seq, handlers, parked, now }: ReplanInput): readonly string[] {
    const wanted = new Set(parked === undefined ? [...handlers, ...selectStuck.all({ seq, note })] : handlers);
    const refused = [...wanted].filter((handler) => !otherBytes.take({ first, handler, seq }));
    for (const handler of refused) {
      markEnded.run({ seq, handler, now, attempts: endStuck.get({ seq, handler }) ?? 0 });
    }
    return handlers.filter((handler) => !refused.includes(handler));
  }

  return (plan: ReplanInput): number => {
    const { seq, now } = plan;
    // Retention has dropped the body, and work without one could never be leased.
    if (hasBody.get({ seq }) === undefined) return 0;
    dropNote.run({ seq, note });
    dropDiscardedNote.run({ seq, note });
    if (plan.parked !== undefined) addNote.run({ seq, note, now, ...plan.parked });
    const first = otherBytes.firstOf(seq);
    const handlers = first === undefined ? plan.handlers : takeFromOthers(first, plan);
    let pending = plan.parked === undefined ? resetStuck.run({ seq, note, now }).changes : 0;
    for (const handler of handlers) {
      const added = addWork.run({ seq, handler, now }).changes;
      if (added === 1) dropDiscardMark.run({ seq, handler });
      pending += added + resetOne.run({ seq, handler, now }).changes;
    }
    return pending;
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

/** Ends work without running it; the marks say so. Leased work is left to its run. */
export function prepareEndWork(db: Database) {
  const mark = db.prepare(`
    INSERT INTO inbox_done (seq, handler, settled_at, attempts, discarded)
    SELECT seq, handler, :now, started, 1 FROM inbox_work WHERE seq = :seq AND state <> 'leased'`);
  const remove = db.prepare("DELETE FROM inbox_work WHERE seq = :seq AND state <> 'leased'");
  return ({ seq, now }: { seq: number; now: number }): number => {
    mark.run({ seq, now });
    return remove.run({ seq }).changes;
  };
}
