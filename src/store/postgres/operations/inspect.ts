import { type Nullable, checkState, readSeqCursor, withoutNulls } from "../../check-query.js";
import { type EventDetail, type EventView, type HandlerView, pageLimit } from "../../inbox-view.js";
import { type PatientEventPage, type PatientEventQuery, cursorsOf, listWindows } from "../../list-windows.js";
import { WORK_STATES, mostUrgentState } from "../../work-state.js";
import type { Sql } from "../sql.js";
import { choiceParameters, fromListed } from "./event-conditions.js";
import { readFailedRuns } from "./failed-runs.js";
import { readOthers } from "./other-bytes.js";
import { readKeptSteps } from "./steps.js";

type EventRow = Pick<EventView, "id" | "type" | "test" | "receivedAt" | "signedAt"> & {
  seq: number;
  hasOthers: boolean;
};

type NullableField = "reason" | "error" | "maxAttempts" | "dueAt" | "settledAt" | "retryRequestedAt";

type WorkRow = Omit<HandlerView, NullableField> & Nullable<Pick<HandlerView, NullableField>> & { seq: number };

const EVENT_COLUMNS = `
  e.seq, e.id, e.type, e.test, e.received_at AS "receivedAt", e.signed_at AS "signedAt",
  EXISTS (SELECT 1 FROM pigeonhole.inbox_other AS o WHERE o.seq = e.seq OR o.first = e.seq)
    OR EXISTS (SELECT 1 FROM pigeonhole.inbox_holder AS h WHERE h.first = e.seq) AS "hasOthers"`;

const SELECT_WORK = `
  SELECT w.seq, w.handler, w.state, w.reason, w.error, w.started AS attempts, w.due_at AS "dueAt",
    w.settled_at AS "settledAt", w.discarded, CASE w.handler WHEN '' THEN w.waits_since END AS "retryRequestedAt",
    h.max_attempts AS "maxAttempts"
  FROM pigeonhole.inbox_work AS w LEFT JOIN pigeonhole.inbox_handler AS h ON h.handler = w.handler
  WHERE w.seq = ANY(:seqs) ORDER BY w.handler`;

/** A page of events with the state of each handler, newest first. */
export async function listEvents(sql: Sql, query: PatientEventQuery): Promise<PatientEventPage> {
  const limit = pageLimit.read("limit", query.limit);
  if (query.state !== undefined) checkState(query.state, WORK_STATES);
  const select = `SELECT ${EVENT_COLUMNS} ${fromListed(query)}`;
  const values = choiceParameters(query);
  const newest = query.patienceMs === undefined ? 0 : await readNewest(sql);
  const rows: EventRow[] = [];
  let lowest = 0;
  for (const { before, floor } of listWindows(query, { before: readSeqCursor(query.cursor), newest })) {
    rows.push(...(await sql.rows<EventRow>(select, { ...values, before, floor, most: limit + 1 - rows.length })));
    lowest = floor;
    if (rows.length > limit) break;
  }
  return { items: await viewAll(sql, rows.slice(0, limit)), ...cursorsOf(rows, limit, lowest) };
}

async function readNewest(sql: Sql): Promise<number> {
  const row = await sql.row<{ seq: number | null }>("SELECT max(seq) AS seq FROM pigeonhole.inbox_event");
  return row?.seq ?? 0;
}

/** One event with its bytes; undefined for an unknown id. */
export async function inspectEvent(sql: Sql, id: string): Promise<EventDetail | undefined> {
  const row = await sql.row<EventRow & { body: Uint8Array | null }>(
    `SELECT ${EVENT_COLUMNS}, b.body FROM pigeonhole.inbox_event AS e
     LEFT JOIN pigeonhole.inbox_body AS b ON b.seq = e.seq WHERE e.id = :id`,
    { id },
  );
  if (row === undefined) return undefined;
  const [view] = await viewAll(sql, [row]);
  if (view === undefined) return undefined;
  const failedOf = await readFailedRuns(sql, row.seq);
  const stepsOf = await readKeptSteps(sql, row.seq);
  const handlers = view.handlers.map((handler) => ({
    ...handler,
    failed: failedOf(handler),
    steps: stepsOf(handler.handler),
  }));
  return { ...view, handlers, seq: row.seq, body: row.body ?? undefined };
}

async function viewAll(sql: Sql, rows: readonly EventRow[]): Promise<EventView[]> {
  const work = await sql.rows<WorkRow>(SELECT_WORK, { seqs: rows.map(({ seq }) => seq) });
  const ofEvent = new Map<number, WorkRow[]>(rows.map(({ seq }) => [seq, []]));
  for (const row of work) ofEvent.get(row.seq)?.push(row);
  const views: EventView[] = [];
  for (const row of rows) views.push(await viewOne(sql, row, ofEvent.get(row.seq) ?? []));
  return views;
}

async function viewOne(sql: Sql, row: EventRow, work: readonly WorkRow[]): Promise<EventView> {
  const { seq, hasOthers, id, type, test, receivedAt, signedAt } = row;
  const others = hasOthers ? await readOthers(sql, seq) : undefined;
  const handlers = work.map((ofHandler): HandlerView => {
    const { seq: _, ...columns } = ofHandler;
    const shown = withoutNulls<HandlerView>(columns);
    return others?.withOther.has(shown.handler) === true ? { ...shown, reason: "other_bytes" } : shown;
  });
  const state = mostUrgentState(handlers);
  return { id, type, test, receivedAt, signedAt, state, handlers, otherBytes: others?.ids ?? [] };
}

/** Ids of events with dead or parked work, oldest first. */
export function listStuck(
  sql: Sql,
  query: { state: "dead" | "parked"; limit: number; afterSeq: number },
): Promise<{ seq: number; id: string }[]> {
  checkState(query.state, ["dead", "parked"]);
  return sql.rows(
    `SELECT DISTINCT w.seq, e.id FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
     WHERE w.state = :state AND w.seq > :afterSeq ORDER BY w.seq LIMIT :limit`,
    query,
  );
}
