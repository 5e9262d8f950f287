import type { Database } from "better-sqlite3";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { type PieceAt, prepareEndPiece, prepareRetryPiece } from "./replan.js";
import { prepareRequestRetry } from "./requested-retries.js";

/** What became of a piece: `left` when it cannot be changed, `gone` when it was not stuck any more. */
export type StuckChange = "changed" | "left" | "gone";

/** Retries or discards one piece of stuck work, which may have been changed since it was read. */
export function prepareChangeStuck(db: Database): (action: "retry" | "discard", piece: PieceAt) => StuckChange {
  const isStuck = db.prepare<PieceAt>(
    "SELECT 1 FROM inbox_work WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked')",
  );
  const retryPiece = prepareRetryPiece(db);
  const requestRetry = prepareRequestRetry(db);
  const endPiece = prepareEndPiece(db);

  function change(action: "retry" | "discard", piece: PieceAt): boolean {
    if (action === "discard") return endPiece(piece) > 0;
    return piece.handler === NOTE_HANDLER ? requestRetry(piece) : retryPiece(piece) > 0;
  }

  return (action, piece) => {
    if (isStuck.get(piece) === undefined) return "gone";
    return change(action, piece) ? "changed" : "left";
  };
}
