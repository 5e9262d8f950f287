import type { WorkChoice } from "../inbox-view.js";
import {
  type FoundWaiting,
  type RunCounts,
  type RunPage,
  type RunRequest,
  WAITING_PAGE,
  type WaitingPlace,
  firstWaiting,
  withMoreCrashes,
} from "../waiting-work.js";
import { type PagePace, changeInTime } from "../query-runner.js";
import { WAITS } from "./server-columns.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";
import { choiceParameters, fromOpenWork, workConditions } from "./work-choice.js";

/** Few, so that a page that needs no more ends soon. */
const LOOKED_TOGETHER = 25;

interface Waiting {
  seq: number;
  dueAt: number;
  isChosen: boolean | 0 | 1;
}

/** Makes the work of one event due that waits for its next run; its attempts stay. Returns how many pieces. */
export function* runEvent(event: { seq: number; now: number }): StoreQuery<number> {
  const found = `seq = :seq AND ${WAITS} AND due_at > :now`;
  yield* readRows(`SELECT handler FROM pigeonhole.inbox_work WHERE ${found} ORDER BY handler FOR UPDATE`, event);
  return yield* run(`UPDATE pigeonhole.inbox_work SET due_at = :now, waits_since = NULL WHERE ${found}`, event);
}

/** Finds a page of chosen work that waits for its next run: `wanted` pieces or some more. Does not read what is due. */
export function* findWaiting({
  choice,
  now,
  from,
  limit: most = WAITING_PAGE,
  wanted = Infinity,
}: RunRequest & { wanted?: number }): StoreQuery<FoundWaiting> {
  const pieces: WaitingPlace[] = [];
  let looked = 0;
  let next = from ?? firstWaiting(choice.handler ?? (yield* handlerAfter("")), now);
  while (next !== undefined && looked < most && pieces.length < wanted) {
    const place: WaitingPlace = next;
    const limit = wanted === Infinity ? most - looked : Math.min(LOOKED_TOGETHER, most - looked);
    const waiting = yield* select(place, { choice, limit });
    for (const { seq, dueAt, isChosen } of waiting) if (isChosen) pieces.push({ ...place, seq, dueAt });
    looked += waiting.length;
    const last = waiting.at(-1);
    if (last !== undefined && waiting.length === limit) next = { ...place, dueAt: last.dueAt, seq: last.seq };
    else {
      const follows = choice.handler === undefined ? yield* handlerAfter(place.handler) : undefined;
      next = withMoreCrashes(place, now) ?? firstWaiting(follows, now);
    }
  }
  return { pieces, next };
}

const GIVEN = "unnest(:seqs::bigint[], :handlers::text[], :dueAts::bigint[]) AS p (of_seq, of_handler, of_due_at)";
const IS_GIVEN = `w.seq = p.of_seq AND w.handler = p.of_handler AND due_at = p.of_due_at AND ${WAITS}`;

/**
 * Makes pieces due that were found to wait, until the time is over; their attempts stay. What does not wait any more as
 * it did is left. In one transaction.
 */
export function* runPieces({ pieces, next }: FoundWaiting, now: number, pace: PagePace): StoreQuery<RunPage> {
  if (pieces.length === 0) return { pieces: [], next };
  const { changes, looked } = yield* changeInTime(pace, pieces, (found) => runTogether(found, now));
  return { pieces: changes.flat(), next: looked < pieces.length ? pieces[looked - 1] : next };
}

function* runTogether(pieces: readonly WaitingPlace[], now: number): StoreQuery<RunPage["pieces"]> {
  const values = {
    seqs: pieces.map(({ seq }) => seq),
    handlers: pieces.map(({ handler }) => handler),
    dueAts: pieces.map(({ dueAt }) => dueAt),
  };
  const held = yield* readRows<{ seq: number; handler: string }>(
    `SELECT w.seq, w.handler FROM ${GIVEN} JOIN pigeonhole.inbox_work AS w ON ${IS_GIVEN}
     ORDER BY w.seq, w.handler FOR UPDATE OF w`,
    values,
  );
  yield* run(
    `UPDATE pigeonhole.inbox_work AS w SET due_at = :now, waits_since = NULL FROM ${GIVEN} WHERE ${IS_GIVEN}`,
    { ...values, now },
  );
  return held;
}

function select(place: WaitingPlace, { choice, limit }: { choice: WorkChoice; limit: number }): StoreQuery<Waiting[]> {
  const isChosen = workConditions(choice).join(" AND ") || "true";
  return readRows(
    `SELECT w.seq, w.due_at AS "dueAt", coalesce(${isChosen}, false) AS "isChosen"
     FROM (
       SELECT seq AS at_seq, handler AS of_handler FROM pigeonhole.inbox_work
       WHERE ${WAITS} AND handler = :atHandler AND least(started - finished, 2) = :crashes
         AND (due_at, seq) > (:dueAt::bigint, :seq::bigint)
       ORDER BY due_at, seq LIMIT :limit
     ) AS page
     JOIN pigeonhole.inbox_work AS w ON w.seq = page.at_seq AND w.handler = page.of_handler
     JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
     ORDER BY w.due_at, w.seq`,
    { ...choiceParameters(choice), ...place, atHandler: place.handler, handler: choice.handler, limit },
  );
}

/** The first handler after a name that has pending work. */
function* handlerAfter(after: string): StoreQuery<string | undefined> {
  const found = yield* readFirst<{ handler: string }>(
    `SELECT handler FROM pigeonhole.inbox_work WHERE ${WAITS} AND handler > :after ORDER BY handler LIMIT 1`,
    { after },
  );
  return found?.handler;
}

/** Counts the chosen work that waits for its next run, and the events that it belongs to. */
export function* countWaiting(of: { choice: WorkChoice; now: number }): StoreQuery<RunCounts> {
  const { choice, now } = of;
  const conditions = [WAITS, "w.due_at > :now", ...workConditions(choice)].join(" AND ");
  const counted = yield* readFirst<RunCounts>(
    `SELECT count(DISTINCT w.seq) AS events, count(*) AS work ${fromOpenWork(choice)} WHERE ${conditions}`,
    { ...choiceParameters(choice), now },
  );
  return counted ?? { events: 0, work: 0 };
}
