import {
  type EndedRuns,
  type HandlerTimes,
  type HandlerTimesQuery,
  stepsAt,
  stepsOf,
  sumEndedRuns,
  toHandlerTimes,
} from "../../handler-times.js";
import type { Sql } from "../sql.js";
import type { NodeLock } from "./recover.js";

const ADD = `
  INSERT INTO pigeonhole.inbox_handler_time AS t (step, handler, outcome, from_ms, node, runs)
  SELECT :step, handler, outcome, from_ms, :node, runs
  FROM unnest(:handlers::text[], :outcomes::text[], :froms::integer[], :counts::bigint[])
    AS ended (handler, outcome, from_ms, runs)
  ON CONFLICT (step, handler, outcome, from_ms, node) DO UPDATE SET runs = t.runs + excluded.runs`;

/** What another node drops at the same time is left to it. */
const DROP = `
  DELETE FROM pigeonhole.inbox_handler_time WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_handler_time WHERE step < :oldest ORDER BY step LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** Adds ended runs to this node's counts, and drops some of those that are too old. */
export async function noteHandlerTimes(
  sql: Sql,
  { node }: NodeLock,
  { ended, now }: { ended: readonly EndedRuns[]; now: number },
): Promise<void> {
  const { step, oldest } = stepsAt(now);
  // A statement may not update a row twice.
  const rows = sumEndedRuns(ended);
  await sql.run(ADD, {
    step,
    node,
    handlers: rows.map(({ handler }) => handler),
    outcomes: rows.map(({ outcome }) => outcome),
    froms: rows.map(({ fromMs }) => fromMs),
    counts: rows.map(({ runs }) => runs),
  });
  await sql.run(DROP, { oldest });
}

/** Adds up the counts of the chosen steps, of all nodes. */
export async function readHandlerTimes(sql: Sql, query: HandlerTimesQuery): Promise<HandlerTimes[]> {
  const counts = await sql.rows<EndedRuns>(
    `SELECT handler, outcome, from_ms AS "fromMs", sum(runs)::bigint AS runs FROM pigeonhole.inbox_handler_time
     WHERE step >= :first AND step < :before AND (:handler::text IS NULL OR handler = :handler)
     GROUP BY handler, outcome, from_ms`,
    { ...stepsOf(query), handler: query.handler },
  );
  return toHandlerTimes(counts);
}
