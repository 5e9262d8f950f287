import { type OtherEnd, columnsAfter } from "../../queries/ending-work.js";
import type { SettleResult } from "../../store.js";
import type { DoneSettlement, Settlement } from "../../work.js";
import type { Sql } from "../sql.js";
import { nameOfContactEvent } from "../../same-contact-event.js";
import { LEASES, SELECT_HOLDING, givenRows, listsOf, tracesOf } from "./given-rows.js";

/** The assignments that end work. It keeps when, and how often it ran; `at` is an expression. */
export function ended(at: string): string {
  return `state = 'done', settled_at = ${at}, due_at = NULL, waits_since = NULL, lease = NULL, lease_until = NULL,
    finished = finished + 1, process = NULL, key = NULL, waits_for_key = false, reason = NULL, error = NULL,
    error_type = NULL, error_group = NULL, failed_at = NULL`;
}

/**
 * Parts of a statement with the rows `moved` of settled runs: keeps the error of each in full, and of the runs before
 * it only the first since a retry.
 */
const KEEP_FAILED_RUNS = `
  dropped_runs AS (
    DELETE FROM pigeonhole.inbox_failed AS f USING moved AS m
    WHERE m.stack IS NOT NULL AND f.seq = m.seq AND f.handler = m.handler AND f.attempt <> m.started
      AND (m.finished = 1 OR f.attempt >
        (SELECT min(attempt) FROM pigeonhole.inbox_failed AS g WHERE g.seq = m.seq AND g.handler = m.handler))
  ), kept_runs AS (
    INSERT INTO pigeonhole.inbox_failed (seq, handler, attempt, stack, failed_at)
    SELECT seq, handler, started, stack, failed_at FROM moved WHERE stack IS NOT NULL
    ON CONFLICT (seq, handler, attempt) DO UPDATE SET stack = excluded.stack, failed_at = excluded.failed_at
  )`;

/** `locked`: another transaction holds the work at the moment, and nothing was written. */
export type SettleOutcome = SettleResult | "locked";

/**
 * The work under the leases given that still hold, locked. A lease that was lost is not among it, and nothing is
 * written for it; nor is one whose row is locked, for which all others would have to wait.
 */
const HELD = `
  held AS MATERIALIZED (
    SELECT w.seq, w.handler, w.started, g.place FROM pigeonhole.inbox_work AS w JOIN given AS g
      ON w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token
    ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED
  ), dropped AS (
    UPDATE pigeonhole.inbox_step AS s SET value = '' FROM held JOIN given AS g USING (place)
    WHERE s.seq = held.seq AND s.handler = held.handler AND g.drop_steps
  )`;

const DONE = `${LEASES}, at bigint, drop_steps boolean`;
/** Contact events by the place of the run that recorded them. */
const RECORDS = "place bigint, key text, name text, body text, occurred_at bigint, trace text";

const SETTLE_DONE = `
  WITH given AS (SELECT * FROM ${givenRows(DONE)}), ${HELD}, done AS (
    UPDATE pigeonhole.inbox_work AS w SET ${ended("g.at")}
    FROM held JOIN given AS g USING (place) WHERE w.seq = held.seq AND w.handler = held.handler RETURNING g.place
  ), recorded AS (
    INSERT INTO pigeonhole.outbox_event (key, name, body, occurred_at, recorded_at, inbox_seq, trace, by_handler, state)
    SELECT r.key, r.name, r.body, r.occurred_at, g.at, g.seq, r.trace, true, 'pending'
    FROM ${givenRows(RECORDS, "r", "number")}
    JOIN done USING (place) JOIN given AS g USING (place) ORDER BY r.number
  ), counted AS (
    INSERT INTO pigeonhole.inbox_done_count (done) SELECT count(*) FROM done HAVING count(*) > 0
  )
  SELECT place FROM done`;

const SETTLE_ONE = "SELECT pigeonhole.settle_done(:seq, :handler, :token, :at, :dropSteps) AS settled";

const OTHERS = `${LEASES}, drop_steps boolean, state text, due_at bigint, waits_since bigint, settled_at bigint,
  reason text, error text, stack text, error_group text, failed_at bigint, holds text, began bigint`;

const SETTLE_OTHERS = `
  WITH given AS (SELECT * FROM ${givenRows(OTHERS)}), ${HELD}, moved AS (
    UPDATE pigeonhole.inbox_work AS w
    SET state = g.state, due_at = g.due_at, waits_since = g.waits_since, settled_at = g.settled_at, reason = g.reason,
      error = g.error, lease = NULL, lease_until = NULL, process = NULL, key = NULL, finished = w.finished + 1,
      waits = w.waits + (g.holds IS NOT NULL)::integer, wait_began = coalesce(g.began, w.wait_began), wait_holds = g.holds,
      error_group = coalesce(g.error_group, w.error_group), failed_at = coalesce(g.failed_at, w.failed_at),
      error_type = CASE WHEN g.failed_at IS NULL THEN w.error_type
        ELSE (SELECT e.type FROM pigeonhole.inbox_event AS e WHERE e.seq = w.seq) END
    FROM held JOIN given AS g USING (place) WHERE w.seq = held.seq AND w.handler = held.handler
    RETURNING g.place, w.seq, w.handler, w.started, w.finished, g.stack, g.failed_at
  ), ${KEEP_FAILED_RUNS}
  SELECT place FROM moved`;

/** Ends leases of work that is done, with the contact events of its runs. */
export async function settleDone(sql: Sql, settlements: readonly DoneSettlement[]): Promise<SettleOutcome[]> {
  const runs = settlements.map(({ dropSteps, ...run }) => ({ ...run, drop_steps: dropSteps }));
  const records = settlements.flatMap(({ records = [] }, index) =>
    records.map(({ key, body, occurredAt, trace }) => {
      return { place: index + 1, key, name: nameOfContactEvent(body), body, occurred_at: occurredAt, trace };
    }),
  );
  const settled = await sql.keptRows<{ place: number }>(SETTLE_DONE, {
    ...listsOf(DONE, runs),
    ...listsOf(RECORDS, records),
    trace: tracesOf(records),
  });
  return outcomesOf(sql, settlements, settled);
}

/**
 * Begins a transaction in which leases of work that is done end; everything that one piece of work needs is in one
 * round trip, unless it recorded contact events.
 */
export async function beginDone(sql: Sql, settlements: readonly DoneSettlement[]): Promise<SettleOutcome[]> {
  const [settlement, ...others] = settlements;
  if (settlement === undefined || others.length > 0 || (settlement.records ?? []).length > 0) {
    await sql.begin();
    return settleDone(sql, settlements);
  }
  const ended = await sql.beginWith<{ settled: boolean }>(SETTLE_ONE, settlement);
  return ended?.settled === true ? ["settled"] : outcomesOf(sql, settlements, []);
}

/** Ends leases of work that runs again, is dead or parked. */
export async function settleOthers(sql: Sql, settlements: readonly OtherEnd[]): Promise<SettleOutcome[]> {
  const settled = await sql.keptRows<{ place: number }>(SETTLE_OTHERS, listsOf(OTHERS, settlements.map(columnsAfter)));
  return outcomesOf(sql, settlements, settled);
}

/** Of two settlements of one lease in a batch, the database ends one. */
async function outcomesOf(
  sql: Sql,
  settlements: readonly Settlement[],
  settled: readonly { place: number }[],
): Promise<SettleOutcome[]> {
  const places = new Set(settled.map(({ place }) => place));
  if (settlements.every((_, index) => places.has(index + 1))) return settlements.map(() => "settled");
  const holding = await sql.rows<{ place: number }>(SELECT_HOLDING, listsOf(LEASES, settlements));
  const locked = new Set(holding.map(({ place }) => place));
  return settlements.map((_, index) => {
    if (places.has(index + 1)) return "settled";
    return locked.has(index + 1) ? "locked" : "lost";
  });
}
