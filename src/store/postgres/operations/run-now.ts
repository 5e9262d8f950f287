import type { StuckPiece } from "../../inbox-operator.js";
import type { WorkChoice } from "../../inbox-view.js";
import {
  firstWaiting,
  type RunCounts,
  type RunPage,
  type RunRequest,
  WAITING_PAGE,
  type WaitingPlace,
  withMoreCrashes,
} from "../../waiting-work.js";
import type { Sql } from "../sql.js";
import { choiceParameters, fromWork, workConditionsOf } from "./event-conditions.js";

interface Waiting {
  seq: number;
  dueAt: number;
  isChosen: boolean;
}

const WAITS = "state = 'pending' AND NOT waits_for_key AND due_at > :now";
const RUN = "due_at = :now::bigint, waits_since = NULL";

/** Makes the work of one event due that waits for its next run; its attempts stay. Returns how many pieces. */
export function runEvent(sql: Sql, id: string, now: number): Promise<number> {
  return sql.run(
    `WITH held AS MATERIALIZED (
       SELECT seq, handler FROM pigeonhole.inbox_work
       WHERE seq = (SELECT seq FROM pigeonhole.inbox_event WHERE id = :id) AND ${WAITS} ORDER BY handler FOR UPDATE
     )
     UPDATE pigeonhole.inbox_work AS w SET ${RUN} FROM held WHERE w.seq = held.seq AND w.handler = held.handler`,
    { id, now },
  );
}

/**
 * Makes a page of chosen work due that waits for its next run; its attempts stay. Does not read work that is due. In
 * one transaction.
 */
export async function runWork(
  sql: Sql,
  { choice, now, from, limit: most = WAITING_PAGE }: RunRequest,
): Promise<RunPage> {
  const chosen: StuckPiece[] = [];
  let looked = 0;
  let next = from ?? firstWaiting(choice.handler ?? (await handlerAfter(sql, "")), now);
  while (next !== undefined && looked < most) {
    const { handler } = next;
    const limit = most - looked;
    const waiting: Waiting[] = await select(sql, next, { choice, limit });
    for (const { seq, isChosen } of waiting) if (isChosen) chosen.push({ seq, handler });
    looked += waiting.length;
    const last = waiting.at(-1);
    if (last !== undefined && waiting.length === limit) next = { ...next, dueAt: last.dueAt, seq: last.seq };
    else {
      const follows = choice.handler === undefined ? await handlerAfter(sql, handler) : undefined;
      next = withMoreCrashes(next, now) ?? firstWaiting(follows, now);
    }
  }
  return { pieces: await runPieces(sql, chosen, now), next };
}

function select(
  sql: Sql,
  place: WaitingPlace,
  { choice, limit }: { choice: WorkChoice; limit: number },
): Promise<Waiting[]> {
  const isChosen = workConditionsOf(choice).join(" AND ") || "true";
  return sql.rows<Waiting>(
    `SELECT w.seq, w.due_at AS "dueAt", coalesce(${isChosen}, false) AS "isChosen"
     FROM (
       SELECT seq AS at_seq, handler AS of_handler FROM pigeonhole.inbox_work
       WHERE state = 'pending' AND NOT waits_for_key AND handler = :atHandler
         AND least(started - finished, 2) = :crashes AND (due_at, seq) > (:dueAt::bigint, :seq::bigint)
       ORDER BY due_at, seq LIMIT :limit
     ) AS page
     JOIN pigeonhole.inbox_work AS w ON w.seq = page.at_seq AND w.handler = page.of_handler
     JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
     ORDER BY w.due_at, w.seq`,
    { ...choiceParameters(choice), ...place, atHandler: place.handler, handler: choice.handler, limit },
  );
}

/** What is leased, settled or discarded meanwhile is left. */
function runPieces(sql: Sql, pieces: readonly StuckPiece[], now: number): Promise<StuckPiece[]> {
  if (pieces.length === 0) return Promise.resolve([]);
  return sql.rows<StuckPiece>(
    `WITH held AS MATERIALIZED (
       SELECT w.seq, w.handler FROM pigeonhole.inbox_work AS w
       JOIN unnest(:seqs::bigint[], :handlers::text[]) AS p (seq, handler) ON w.seq = p.seq AND w.handler = p.handler
       WHERE ${WAITS} ORDER BY w.seq, w.handler FOR UPDATE OF w
     )
     UPDATE pigeonhole.inbox_work AS w SET ${RUN} FROM held WHERE w.seq = held.seq AND w.handler = held.handler
     RETURNING w.seq, w.handler`,
    { seqs: pieces.map(({ seq }) => seq), handlers: pieces.map(({ handler }) => handler), now },
  );
}

/** Counts the chosen work that waits for its next run. */
export async function countWaiting(sql: Sql, choice: WorkChoice, now: number): Promise<RunCounts> {
  const conditions = [WAITS, ...workConditionsOf(choice)].join(" AND ");
  const row = await sql.row<RunCounts>(
    `SELECT count(DISTINCT w.seq) AS events, count(*) AS work
     ${fromWork(choice)} WHERE ${conditions}`,
    { ...choiceParameters(choice), now },
  );
  return row ?? { events: 0, work: 0 };
}

/** The first handler after a name that has pending work. */
async function handlerAfter(sql: Sql, after: string): Promise<string | undefined> {
  const row = await sql.row<{ handler: string }>(
    `SELECT handler FROM pigeonhole.inbox_work WHERE state = 'pending' AND NOT waits_for_key AND handler > :after
     ORDER BY handler LIMIT 1`,
    { after },
  );
  return row?.handler;
}
