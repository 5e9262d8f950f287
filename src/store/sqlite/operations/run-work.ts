import type { Database } from "better-sqlite3";
import { findWaiting } from "../../queries/waiting-work.js";
import type { RunPage, RunRequest, WaitingPlace } from "../../waiting-work.js";
import { runInFile } from "../run-in-file.js";
import { FILE_WORDS } from "../words.js";

/** Makes a piece due that was found to wait; its attempts stay. False when it does not wait any more as it did. */
export function prepareRunPiece(db: Database) {
  const run = db.prepare(`
    UPDATE inbox_work SET due_at = :now, waits_since = NULL
    WHERE state = 'pending' AND due_at > :now AND seq = :seq AND handler = :handler AND due_at = :dueAt`);
  return (piece: WaitingPlace & { now: number }): boolean => run.run(piece).changes === 1;
}

/** Makes a page of chosen work due that waits for its next run. In one transaction. */
export function prepareRunWork(db: Database) {
  const run = prepareRunPiece(db);
  return (request: RunRequest): RunPage => {
    const { pieces, next } = runInFile(db, findWaiting(FILE_WORDS, request));
    for (const piece of pieces) run({ ...piece, now: request.now });
    return { pieces: pieces.map(({ seq, handler }) => ({ seq, handler })), next };
  };
}
