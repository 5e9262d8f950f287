import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { JobAction, WorkPiece } from "../bulk-jobs.js";
import type { RunCounts } from "../inbox-operator.js";
import { DISCARD } from "./ending-work.js";
import { RESET, requestRetry } from "./replan.js";
import { type StoreQuery, WAITS, lockEvents, readFirst, readRows, run } from "./store-query.js";
import { type ChosenWork, choiceParameters, fromOpenWork, workConditions } from "./work-choice.js";

/** A piece of work that was found. `dueAt` tells a wait from a later one of the same piece; null for stuck work. */
export interface FoundPiece extends WorkPiece {
  dueAt: number | null;
}

const IS_STUCK = "w.state IN ('dead', 'parked')";

/** Work that an action can change; takes `:now`. */
const canChange = (action: JobAction): string => (action === "run" ? `${WAITS} AND w.due_at > :now` : IS_STUCK);

/** What a page of chosen work begins after, and how much it has at most. */
interface PieceRequest {
  choice: ChosenWork;
  after: WorkPiece;
  limit: number;
  now: number;
}

/**
 * A page of the chosen work that an action can change, oldest first. The index of SQLite has the work of one state in
 * this order, and those of two are merged: a page never sorts, and all pages together read each piece once.
 */
export function selectPieces(action: JobAction, { choice, after, ...request }: PieceRequest): StoreQuery<FoundPiece[]> {
  const states = action === "run" ? ["pending"] : ["dead", "parked"].filter((each) => each === (choice.state ?? each));
  const ofState = (state: string): string =>
    `SELECT w.seq AS seq, w.handler AS handler, w.due_at AS "dueAt" ${fromOpenWork(choice)}
     WHERE ${[canChange(action), `w.state = '${state}'`, ...workConditions(choice)].join(" AND ")}
       AND (w.seq, w.handler) > (:afterSeq::bigint, :afterHandler)`;
  return readRows(`${states.map(ofState).join(" UNION ALL ")} ORDER BY seq, handler LIMIT :limit`, {
    ...choiceParameters(choice),
    ...request,
    afterSeq: after.seq,
    afterHandler: after.handler,
  });
}

/** Counts the chosen work that an action can change, and the events that it belongs to. */
export function* countPieces(action: JobAction, of: { choice: ChosenWork; now: number }): StoreQuery<RunCounts> {
  const { choice, now } = of;
  const conditions = [canChange(action), ...workConditions(choice)].join(" AND ");
  // Counting distinct numbers would sort them.
  const counted = yield* readFirst<RunCounts>(
    `SELECT count(*) AS events, coalesce(sum(pieces), 0) AS work
     FROM (SELECT count(*) AS pieces ${fromOpenWork(choice)} WHERE ${conditions} GROUP BY w.seq) AS of_event`,
    { ...choiceParameters(choice), now },
  );
  return counted ?? { events: 0, work: 0 };
}

/** Makes the work of one event due that waits for its next run; its attempts stay. Returns how many pieces. */
export function* runEvent(event: { seq: number; now: number }): StoreQuery<number> {
  const found = `seq = :seq AND ${WAITS} AND due_at > :now`;
  yield* readRows(`SELECT handler FROM pigeonhole.inbox_work WHERE ${found} ORDER BY handler FOR UPDATE`, event);
  return yield* run(`UPDATE pigeonhole.inbox_work SET ${RUN_NOW} WHERE ${found}`, event);
}

const RUN_NOW = "due_at = :now::bigint, waits_since = NULL";

/** Pieces of work, and when they are changed. */
interface PiecesAt {
  pieces: readonly FoundPiece[];
  now: number;
}

/** Changes pieces that are still as they were found, and returns these. In one transaction. */
export function* changePieces(action: JobAction, at: PiecesAt): StoreQuery<readonly WorkPiece[]> {
  if (action === "retry") return yield* retryPieces(at);
  const [set, condition] = action === "run" ? [RUN_NOW, IS_WAITING] : [DISCARD, IS_GIVEN];
  const changed = yield* readRows<FoundPiece>(
    `SELECT w.seq, w.handler, p.of_due_at AS "dueAt" FROM ${GIVEN} JOIN pigeonhole.inbox_work AS w ON ${condition}
     ORDER BY w.seq, w.handler FOR UPDATE OF w`,
    columnsOf(at.pieces),
  );
  // Another piece may have become such a one since.
  const locked = { ...columnsOf(changed), now: at.now };
  yield* run(`UPDATE pigeonhole.inbox_work AS w SET ${set} FROM ${GIVEN} WHERE ${condition}`, locked);
  return changed;
}

const GIVEN = "unnest(:seqs::bigint[], :handlers::text[], :dueAts::bigint[]) AS p (of_seq, of_handler, of_due_at)";
const IS_PIECE = "w.seq = p.of_seq AND w.handler = p.of_handler";
const IS_GIVEN = `${IS_PIECE} AND ${IS_STUCK}`;
const IS_WAITING = `${IS_PIECE} AND w.due_at = p.of_due_at AND ${WAITS}`;

const RESET_PIECES = `
  UPDATE pigeonhole.inbox_work AS w SET ${RESET} FROM ${GIVEN}
  WHERE ${IS_GIVEN}
    AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = w.seq)
  RETURNING seq, handler`;

/** Notes of events that were not understood are few, and wait for a receiver each. */
function* retryPieces({ pieces, now }: PiecesAt): StoreQuery<readonly WorkPiece[]> {
  const work = pieces.filter(({ handler }) => handler !== NOTE_HANDLER);
  yield* lockEvents(work.map(({ seq }) => seq));
  const changed = yield* readRows<WorkPiece>(RESET_PIECES, { ...columnsOf(work), now });
  for (const piece of pieces)
    if (piece.handler === NOTE_HANDLER && (yield* requestRetry({ seq: piece.seq, now }))) changed.push(piece);
  return changed;
}

const columnsOf = (pieces: readonly FoundPiece[]) => ({
  seqs: pieces.map(({ seq }) => seq),
  handlers: pieces.map(({ handler }) => handler),
  dueAts: pieces.map(({ dueAt }) => dueAt),
});
