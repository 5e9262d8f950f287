import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { StuckPiece } from "../inbox-operator.js";
import type { BesideReceivers } from "./beside-receivers.js";
import { requestRetry } from "../queries/requested-retries.js";
import { runOnServer } from "./run-on-server.js";
import { countStillStuck, resetPieceBesideOthers, resetPieces } from "./operations/stuck-work.js";

/** What became of pieces of stuck work. */
interface RetriedPieces {
  /** Those that run again. */
  pending: StuckPiece[];
  /** The notes of events that a receiver will read again. */
  readAgain: StuckPiece[];
  /** How many cannot be changed. */
  skipped: number;
}

/** Retries pieces of stuck work. Those beside other bodies are few, and each is a change of its own. */
export async function retryPieces(
  { read, write }: Pick<BesideReceivers, "read" | "write">,
  pieces: readonly StuckPiece[],
): Promise<RetriedPieces> {
  const work = pieces.filter((piece) => !isNote(piece));
  const pending = await write("retrying work", (sql, now) => resetPieces(sql, { pieces: work, now }));
  const done = new Set(pending.map(keyOf));
  let skipped = 0;
  const left: StuckPiece[] = [];
  for (const piece of work.filter((candidate) => !done.has(keyOf(candidate)))) {
    const became = await write("retrying work", (sql, now) => resetPieceBesideOthers(sql, { ...piece, now }));
    if (became === "pending") pending.push(piece);
    else if (became === "ended") skipped += 1;
    else left.push(piece);
  }
  const notes = pieces.filter(isNote);
  const readAgain = await write("requesting a retry", async (sql, now) => {
    const requested: StuckPiece[] = [];
    for (const note of notes) if (await runOnServer(sql, requestRetry({ seq: note.seq, now }))) requested.push(note);
    return requested;
  });
  left.push(...notes.filter((note) => !readAgain.includes(note)));
  if (left.length > 0) skipped += await read("looking at work", (sql) => countStillStuck(sql, left));
  return { pending, readAgain, skipped };
}

const isNote = ({ handler }: StuckPiece): boolean => handler === NOTE_HANDLER;

const keyOf = ({ seq, handler }: StuckPiece): string => `${seq} ${handler}`;
