import { NOTE_HANDLER } from "../../base/note-handler.js";
import { errorKeyOf } from "../error-kind.js";
import type { ReplanPlan } from "../store.js";
import type { ParkedNote } from "../work.js";
import { firstBodyOf, takeBody } from "./bodies-of-id.js";
import { CLEAR_FAILURE, type PieceAt, endInFavour } from "./ending-work.js";
import { type StoreQuery, exists, readRows, run } from "./store-query.js";

const note = NOTE_HANDLER;

/** What a retry sets; takes `:now`. */
export const RESET = `
  state = 'pending', due_at = :now::bigint, settled_at = NULL, reason = NULL, started = 0, finished = 0,
  waits = 0, wait_began = NULL,
  waits_since = NULL, discarded = false, ${CLEAR_FAILURE}`;

const IS_STUCK = `seq = :seq AND handler <> '${note}' AND state IN ('dead', 'parked')`;
const IN_BODY = "EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = :seq)";

/**
 * Lets one transaction at a time decide about the bodies of an id, by the row of the first of them. Returns the number
 * of the first, and whether there are others.
 */
export function* lockBodies(seq: number): StoreQuery<{ first: number; hasOthers: boolean }> {
  const found = yield* firstBodyOf(seq);
  yield* readRows("SELECT 1 AS found FROM pigeonhole.inbox_event WHERE seq IN (:first, :seq) ORDER BY seq FOR UPDATE", {
    first: found ?? seq,
    seq,
  });
  // Another body may have come before the lock.
  const first = found ?? (yield* firstBodyOf(seq));
  return { first: first ?? seq, hasOthers: first !== undefined };
}

/** Parks a stored event that was not understood, at a time. */
export function addNote(
  { seq, now }: { seq: number; now: number },
  { reason, detail }: ParkedNote,
): StoreQuery<number> {
  return run(
    `INSERT INTO pigeonhole.inbox_work
       (seq, handler, state, settled_at, started, finished, reason, error, error_type, error_group, failed_at)
     SELECT seq, '${note}', 'parked', :now::bigint, 0, 0, :reason, :detail, type, :errorGroup, :now::bigint
     FROM pigeonhole.inbox_event WHERE seq = :seq`,
    { seq, now, reason, detail, errorGroup: errorKeyOf({ isParked: true, reason, error: detail }) },
  );
}

/** Makes the stuck work of an event pending, with its counters at 0, and adds missing work. In one transaction. */
export function* replanEvent(plan: ReplanPlan): StoreQuery<number> {
  const { seq, now, parked } = plan;
  const { first, hasOthers } = yield* lockBodies(seq);
  // What is being settled at the moment is either done afterwards, or still there.
  yield* readRows("SELECT 1 AS found FROM pigeonhole.inbox_work WHERE seq = :seq ORDER BY handler FOR UPDATE", { seq });
  // Retention has dropped the body, and work without one could never be leased.
  if (!(yield* exists(`SELECT 1 AS found WHERE ${IN_BODY}`, { seq }))) return 0;
  // It may have been read again, discarded or erased meanwhile.
  if (plan.requested === true && !(yield* isRequested(seq))) return 0;
  yield* run(`DELETE FROM pigeonhole.inbox_work WHERE seq = :seq AND handler = '${note}'`, { seq });
  if (parked !== undefined) yield* addNote({ seq, now }, parked);
  const handlers = hasOthers ? yield* takeFromOthers(plan, first) : plan.handlers;
  let pending =
    parked === undefined ? yield* run(`UPDATE pigeonhole.inbox_work SET ${RESET} WHERE ${IS_STUCK}`, { seq, now }) : 0;
  for (const handler of handlers) pending += yield* planPiece({ seq, handler, now });
  return pending;
}

function isRequested(seq: number): StoreQuery<boolean> {
  return exists(
    `SELECT 1 AS found FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = '${note}' AND state = 'parked' AND waits_since IS NOT NULL`,
    { seq },
  );
}

/** Adds work that is missing; what is stuck or was discarded may run again. */
function planPiece(piece: PieceAt): StoreQuery<number> {
  return run(
    `INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, due_at, started, finished)
     VALUES (:seq, :handler, 'pending', :now::bigint, 0, 0)
     ON CONFLICT (seq, handler) DO UPDATE SET ${RESET} WHERE w.discarded OR w.state IN ('dead', 'parked')`,
    piece,
  );
}

/** The handlers that may have this body of its id; for the others its work ends here. */
function* takeFromOthers(plan: ReplanPlan, first: number): StoreQuery<readonly string[]> {
  const { seq, handlers, now, parked } = plan;
  const stuck = yield* readRows<{ handler: string }>(`SELECT handler FROM pigeonhole.inbox_work WHERE ${IS_STUCK}`, {
    seq,
  });
  const wanted = new Set([...handlers, ...(parked === undefined ? stuck.map(({ handler }) => handler) : [])]);
  const refused = new Set<string>();
  for (const handler of wanted) {
    if (yield* takeBody({ first, handler, seq })) continue;
    refused.add(handler);
    yield* endInFavour({ seq, handler, now });
  }
  return handlers.filter((handler) => !refused.has(handler));
}

/** Makes one piece of stuck work pending, with its counters at 0; returns how many pieces, 0 without a body. */
export function* retryPiece(piece: PieceAt): StoreQuery<number> {
  const { seq, handler } = piece;
  const { first, hasOthers } = yield* lockBodies(seq);
  if (hasOthers && !(yield* takeBody({ first, handler, seq }))) {
    yield* endInFavour(piece);
    return 0;
  }
  return yield* run(
    `UPDATE pigeonhole.inbox_work SET ${RESET}
     WHERE seq = :seq AND handler = :handler AND state IN ('dead', 'parked') AND ${IN_BODY}`,
    piece,
  );
}
