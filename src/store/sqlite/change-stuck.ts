import type { Database } from "better-sqlite3";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { type PieceAt, endPiece } from "../queries/ending-work.js";
import { type StoreQuery, exists } from "../queries/store-query.js";
import { retryPiece } from "../queries/replan.js";
import { requestRetry } from "../queries/requested-retries.js";
import { runInFile } from "./run-in-file.js";

/** What became of a piece: `left` when it cannot be changed, `gone` when it was not stuck any more. */
export type StuckChange = "changed" | "left" | "gone";

/** Retries or discards one piece of stuck work, which may have been changed since it was read. */
export function changeStuck(db: Database, action: "retry" | "discard", piece: PieceAt): StuckChange {
  return runInFile(db, change(action, piece));
}

function* change(action: "retry" | "discard", piece: PieceAt): StoreQuery<StuckChange> {
  const isStuck = yield* exists(
    `SELECT 1 AS found FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked')`,
    piece,
  );
  if (!isStuck) return "gone";
  if (action === "discard") return (yield* endPiece(piece)) > 0 ? "changed" : "left";
  const isRetried = piece.handler === NOTE_HANDLER ? yield* requestRetry(piece) : (yield* retryPiece(piece)) > 0;
  return isRetried ? "changed" : "left";
}
