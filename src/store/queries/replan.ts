import { NO_HANDLER, NOTE_HANDLER } from "../../base/note-handler.js";
import { errorKeyOf } from "../error-kind.js";
import type { ReplanPlan } from "../store.js";
import type { ParkedNote } from "../work.js";
import { CLEAR_FAILURE, type PieceAt } from "./ending-work.js";
import { type StoreQuery, exists, lockEvents, readRows, run } from "./store-query.js";

const note = NOTE_HANDLER;

/** What a retry sets; takes `:now`. */
export const RESET = `
  state = 'pending', due_at = :now::bigint, settled_at = NULL, reason = NULL, started = 0, finished = 0,
  waits = 0, wait_began = NULL, wait_holds = NULL, waits_since = NULL,
   discarded = false, ${CLEAR_FAILURE}`;

const IS_STUCK = `seq = :seq AND handler <> '${note}' AND state IN ('dead', 'parked')`;
const IN_BODY = "EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = :seq)";

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
  // Other bytes of the id may come meanwhile.
  yield* lockEvents([seq]);
  // What is being settled at the moment is either done afterwards, or still there.
  yield* readRows("SELECT 1 AS found FROM pigeonhole.inbox_work WHERE seq = :seq ORDER BY handler FOR UPDATE", { seq });
  // Retention has dropped the body, and work without one could never be leased.
  if (!(yield* exists(`SELECT 1 AS found WHERE ${IN_BODY}`, { seq }))) return 0;
  // It may have been read again, discarded or erased meanwhile.
  if (plan.requested === true && !(yield* isRequested(seq))) return 0;
  yield* run(`DELETE FROM pigeonhole.inbox_work WHERE seq = :seq AND handler = '${note}'`, { seq });
  if (parked !== undefined) yield* addNote({ seq, now }, parked);
  let pending =
    parked === undefined ? yield* run(`UPDATE pigeonhole.inbox_work SET ${RESET} WHERE ${IS_STUCK}`, { seq, now }) : 0;
  for (const handler of plan.handlers) pending += yield* planPiece({ seq, handler, now });
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

/** An event, and when it is changed. */
interface EventAt {
  seq: number;
  now: number;
}

/** Asks a receiver to read an event again that was not understood: its note waits from now on. */
export function* requestRetry({ seq, now }: EventAt): StoreQuery<boolean> {
  const found = yield* run(
    `UPDATE pigeonhole.inbox_work SET waits_since = coalesce(waits_since, :now)
     WHERE seq = :seq AND handler = '${note}' AND state = 'parked'
       AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = :seq)`,
    { seq, now },
  );
  return found === 1;
}

/**
 * Asks a receiver to read an event again that no handler got, or whose note was discarded: it is parked until then.
 * Does nothing with an event that has no body.
 */
export function* requestReading({ seq, now }: EventAt): StoreQuery<boolean> {
  yield* run(
    `INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, settled_at, started, finished, reason)
     SELECT seq, '${note}', 'parked', :now::bigint, 0, 0, '${NO_HANDLER}' FROM pigeonhole.inbox_body WHERE seq = :seq
     ON CONFLICT (seq, handler) DO UPDATE
       SET state = 'parked', settled_at = excluded.settled_at, reason = excluded.reason, discarded = false
       WHERE w.discarded`,
    { seq, now },
  );
  return yield* requestRetry({ seq, now });
}

/**
 * Removes an event that is parked, and on which no handler has run, so that other bytes of its id take its place. False
 * for any other event, which stays; true for one that is gone. In one transaction.
 */
export function* removeUnhandled(seq: number): StoreQuery<boolean> {
  if ((yield* lockEvents([seq])).length === 0) return true;
  const work = yield* readRows<{ state: string; started: number }>(
    "SELECT state, started FROM pigeonhole.inbox_work WHERE seq = :seq ORDER BY handler FOR UPDATE",
    { seq },
  );
  // The lease that found that the schema refuses the event counts as started.
  const isUnhandled = work.every(({ state, started }) => state === "parked" && started <= 1);
  if (work.length === 0 || !isUnhandled) return false;
  if (yield* exists("SELECT 1 AS found FROM pigeonhole.inbox_step WHERE seq = :seq LIMIT 1", { seq })) return false;
  for (const table of ["inbox_work", "inbox_body", "inbox_failed", "inbox_step", "inbox_event"])
    yield* run(`DELETE FROM pigeonhole.${table} WHERE seq = :seq`, { seq });
  return true;
}
