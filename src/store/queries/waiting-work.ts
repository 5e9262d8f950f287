import type { WorkChoice } from "../inbox-view.js";
import {
  type FoundWaiting,
  type RunCounts,
  type RunRequest,
  WAITING_PAGE,
  type WaitingPlace,
  firstWaiting,
  withMoreCrashes,
} from "../waiting-work.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";
import { choiceParameters, fromOpenWork, workConditions } from "./work-choice.js";

/** The condition on work that waits for a time, as the index of each store has it. */
export interface WaitingWords {
  waits: string;
}

/** Few, so that a page that needs no more ends soon. */
const LOOKED_TOGETHER = 25;

interface Waiting {
  seq: number;
  dueAt: number;
  isChosen: boolean | 0 | 1;
}

/** Makes the work of one event due that waits for its next run; its attempts stay. Returns how many pieces. */
export function* runEvent({ waits }: WaitingWords, event: { id: string; now: number }): StoreQuery<number> {
  const found = `seq = (SELECT seq FROM pigeonhole.inbox_event WHERE id = :id) AND ${waits} AND due_at > :now`;
  yield* readRows(`SELECT handler FROM pigeonhole.inbox_work WHERE ${found} ORDER BY handler FOR UPDATE`, event);
  return yield* run(`UPDATE pigeonhole.inbox_work SET due_at = :now, waits_since = NULL WHERE ${found}`, event);
}

/** Finds a page of chosen work that waits for its next run: `wanted` pieces or some more. Does not read what is due. */
export function* findWaiting(
  words: WaitingWords,
  { choice, now, from, limit: most = WAITING_PAGE, wanted = Infinity }: RunRequest & { wanted?: number },
): StoreQuery<FoundWaiting> {
  const pieces: WaitingPlace[] = [];
  let looked = 0;
  let next = from ?? firstWaiting(choice.handler ?? (yield* handlerAfter(words, "")), now);
  while (next !== undefined && looked < most && pieces.length < wanted) {
    const place: WaitingPlace = next;
    const limit = wanted === Infinity ? most - looked : Math.min(LOOKED_TOGETHER, most - looked);
    const waiting = yield* select(words, place, { choice, limit });
    for (const { seq, dueAt, isChosen } of waiting) if (isChosen) pieces.push({ ...place, seq, dueAt });
    looked += waiting.length;
    const last = waiting.at(-1);
    if (last !== undefined && waiting.length === limit) next = { ...place, dueAt: last.dueAt, seq: last.seq };
    else {
      const follows = choice.handler === undefined ? yield* handlerAfter(words, place.handler) : undefined;
      next = withMoreCrashes(place, now) ?? firstWaiting(follows, now);
    }
  }
  return { pieces, next };
}

function select(
  { waits }: WaitingWords,
  place: WaitingPlace,
  { choice, limit }: { choice: WorkChoice; limit: number },
): StoreQuery<Waiting[]> {
  const isChosen = workConditions(choice).join(" AND ") || "true";
  return readRows(
    `SELECT w.seq, w.due_at AS "dueAt", coalesce(${isChosen}, false) AS "isChosen"
     FROM (
       SELECT seq AS at_seq, handler AS of_handler FROM pigeonhole.inbox_work
       WHERE ${waits} AND handler = :atHandler AND least(started - finished, 2) = :crashes
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
function* handlerAfter({ waits }: WaitingWords, after: string): StoreQuery<string | undefined> {
  const found = yield* readFirst<{ handler: string }>(
    `SELECT handler FROM pigeonhole.inbox_work WHERE ${waits} AND handler > :after ORDER BY handler LIMIT 1`,
    { after },
  );
  return found?.handler;
}

/** Counts the chosen work that waits for its next run, and the events that it belongs to. */
export function* countWaiting({ waits }: WaitingWords, of: { choice: WorkChoice; now: number }): StoreQuery<RunCounts> {
  const { choice, now } = of;
  const conditions = [waits, "w.due_at > :now", ...workConditions(choice)].join(" AND ");
  const counted = yield* readFirst<RunCounts>(
    `SELECT count(DISTINCT w.seq) AS events, count(*) AS work ${fromOpenWork(choice)} WHERE ${conditions}`,
    { ...choiceParameters(choice), now },
  );
  return counted ?? { events: 0, work: 0 };
}
