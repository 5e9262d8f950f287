import type { Database } from "better-sqlite3";
import type { WaitingPlace } from "../../waiting-work.js";

/** Makes a piece due that was found to wait; its attempts stay. False when it does not wait any more as it did. */
export function prepareRunPiece(db: Database) {
  const run = db.prepare(`
    UPDATE inbox_work SET due_at = :now, waits_since = NULL
    WHERE state = 'pending' AND due_at > :now AND seq = :seq AND handler = :handler AND due_at = :dueAt`);
  return (piece: WaitingPlace & { now: number }): boolean => run.run(piece).changes === 1;
}
