import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { StuckPiece, StuckWork } from "../inbox-operator.js";
import { DISCARD } from "./ending-work.js";
import { RESET, retryPiece } from "./replan.js";
import { requestRetry } from "./requested-retries.js";
import { type StoreQuery, readRows, run } from "./store-query.js";
import { choiceParameters, fromOpenWork, workConditions } from "./work-choice.js";

/**
 * A page of the chosen work that is dead or parked, after a piece, oldest first. On SQLite the index has those of one
 * state in this order: a page of them never sorts, and all pages together read each piece once.
 */
export function selectStuck({
  choice,
  after,
  limit,
}: {
  choice: StuckWork;
  after: StuckPiece;
  limit: number;
}): StoreQuery<StuckPiece[]> {
  return readRows(
    `SELECT w.seq, w.handler ${fromOpenWork(choice)}
     WHERE ${["w.state IN ('dead', 'parked')", ...workConditions(choice)].join(" AND ")}
       AND (w.seq, w.handler) > (:afterSeq::bigint, :afterHandler)
     ORDER BY w.seq, w.handler LIMIT :limit`,
    { ...choiceParameters(choice), afterSeq: after.seq, afterHandler: after.handler, limit },
  );
}

/** What became of pieces of stuck work. Those that were not stuck any more are in neither. */
export interface ChangedPieces {
  changed: readonly StuckPiece[];
  /** How many cannot be changed. */
  skipped: number;
}

/** Pieces of work, and when they are changed. */
interface PiecesAt {
  pieces: readonly StuckPiece[];
  now: number;
}

/** Retries or discards pieces that were stuck when they were read. In one transaction. */
export function* changeStuck(action: "retry" | "discard", at: PiecesAt): StoreQuery<ChangedPieces> {
  return action === "retry" ? yield* retryPieces(at) : { changed: yield* endPieces(at), skipped: 0 };
}

const GIVEN = "unnest(:seqs::bigint[], :handlers::text[]) AS p (of_seq, of_handler)";
const IS_GIVEN = "w.seq = p.of_seq AND w.handler = p.of_handler AND w.state IN ('dead', 'parked')";
const SELECT_STUCK = `SELECT w.seq, w.handler FROM ${GIVEN} JOIN pigeonhole.inbox_work AS w ON ${IS_GIVEN}`;

const RESET_PIECES = `
  UPDATE pigeonhole.inbox_work AS w SET ${RESET} FROM ${GIVEN}
  WHERE ${IS_GIVEN}
    AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = w.seq)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_other AS o WHERE o.seq = w.seq OR o.first = w.seq)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_holder AS h WHERE h.first = w.seq)
  RETURNING seq, handler`;

/** Those of events with other bodies are few, and are retried one by one. */
function* retryPieces({ pieces, now }: PiecesAt): StoreQuery<ChangedPieces> {
  const work = pieces.filter(({ handler }) => handler !== NOTE_HANDLER);
  yield* lockEvents(work);
  const changed = yield* readRows<StuckPiece>(RESET_PIECES, { ...columnsOf(work), now });
  const done = new Set(changed.map(keyOf));
  const left = pieces.filter((piece) => !done.has(keyOf(piece)));
  const stuck = left.length === 0 ? [] : yield* readRows<StuckPiece>(SELECT_STUCK, columnsOf(left));
  let skipped = 0;
  for (const piece of stuck) {
    const isRetried =
      piece.handler === NOTE_HANDLER
        ? yield* requestRetry({ seq: piece.seq, now })
        : (yield* retryPiece({ ...piece, now })) > 0;
    if (isRetried) changed.push(piece);
    else skipped += 1;
  }
  return { changed, skipped };
}

/**
 * Another body that comes meanwhile waits, and then finds the work pending. The rows of first bodies are locked with
 * them, in one order: two pages never wait for each other.
 */
function* lockEvents(pieces: readonly StuckPiece[]): StoreQuery<void> {
  const { seqs } = columnsOf(pieces);
  const firsts = yield* readRows<{ first: number }>("SELECT first FROM pigeonhole.inbox_other WHERE seq = ANY(:seqs)", {
    seqs,
  });
  yield* readRows("SELECT 1 AS found FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs) ORDER BY seq FOR UPDATE", {
    seqs: [...seqs, ...firsts.map(({ first }) => first)],
  });
}

/** Ends stuck pieces without running them. Returns those that ended. */
function* endPieces({ pieces, now }: PiecesAt): StoreQuery<StuckPiece[]> {
  const held = yield* readRows<StuckPiece>(`${SELECT_STUCK} ORDER BY w.seq, w.handler FOR UPDATE OF w`, {
    ...columnsOf(pieces),
  });
  yield* run(`UPDATE pigeonhole.inbox_work AS w SET ${DISCARD} FROM ${GIVEN} WHERE ${IS_GIVEN}`, {
    ...columnsOf(held),
    now,
  });
  return held;
}

const keyOf = ({ seq, handler }: StuckPiece): string => `${seq} ${handler}`;

const columnsOf = (pieces: readonly StuckPiece[]) => ({
  seqs: pieces.map(({ seq }) => seq),
  handlers: pieces.map(({ handler }) => handler),
});
