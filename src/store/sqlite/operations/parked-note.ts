import type { Database } from "better-sqlite3";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { errorKeyOf } from "../../error-kind.js";
import type { ParkedNote } from "../../work.js";
import { prepareLater } from "../on-first-use.js";

/** Parks a stored event that was not understood, at a time. */
export function prepareAddNote(db: Database): (of: { seq: number; at: number }, note: ParkedNote) => void {
  const insert = prepareLater(db)(`
    INSERT INTO inbox_work
      (seq, handler, state, settled_at, started, finished, reason, error, error_type, error_group, failed_at)
    SELECT seq, :note, 'parked', :at, 0, 0, :reason, :detail, type, :errorGroup, :at
    FROM inbox_event WHERE seq = :seq`);
  return ({ seq, at }, { reason, detail }) => {
    const errorGroup = errorKeyOf({ isParked: true, reason, error: detail });
    insert().run({ seq, at, note: NOTE_HANDLER, reason, detail, errorGroup });
  };
}
