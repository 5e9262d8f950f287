import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { JobRow } from "../bulk-jobs.js";
import { WORK_FILTERS } from "../filters.js";
import type { HistoryOfJob, HistoryRange } from "../history.js";
import type { LeaseRequest } from "../store.js";
import { IS_UNDER_WAY, SELECT_JOBS, stepJob } from "./jobs.js";
import { type StoreQuery, lockEvents, readFirst, readRows, run } from "./store-query.js";

/** So many numbers of events are looked at in one transaction. */
const LOOKED_AT = 1_000;

/** Jobs that go on, and plan work of `:handler`. */
export const HISTORIES = `${IS_UNDER_WAY} AND action = 'plan' AND choice::json ->> 'handler' = :handler`;

/**
 * Events as `e`, with their bodies as `b`, that a handler would have got and has no row for. What was not understood
 * has a note: reading it again gives it to all handlers.
 */
function fromMissing({ types, since, until }: HistoryOfJob): string {
  const isOfType = `(e.type = ANY(:types)
    OR EXISTS (SELECT 1 FROM unnest(:groups::text[]) AS g (prefix) WHERE strpos(e.type, g.prefix) = 1))`;
  const { since: isLater, until: isEarlier } = WORK_FILTERS;
  const conditions = [
    ...(types.includes("*") ? [] : [isOfType]),
    ...(since === undefined ? [] : [isLater.where]),
    ...(until === undefined ? [] : [isEarlier.where]),
  ];
  return `FROM pigeonhole.inbox_event AS e LEFT JOIN pigeonhole.inbox_body AS b ON b.seq = e.seq
    WHERE NOT e.test AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w
      WHERE w.seq = e.seq AND w.handler IN (:handler, '${NOTE_HANDLER}'))${conditions.map((each) => ` AND ${each}`).join("")}`;
}

function parametersOf({ handler, types, since, until }: HistoryOfJob): object {
  const groups = types.filter((type) => type.endsWith(".*")).map((type) => type.slice(0, -1));
  return { handler, types, groups, since, until };
}

/** How many events a handler would get, how many of them have their body, and where they are. */
export interface CountedHistory {
  all: number;
  withBody: number;
  /** Null where there are none. */
  first: number | null;
  last: number | null;
}

export function countHistory(of: HistoryOfJob): StoreQuery<CountedHistory | undefined> {
  return readFirst(
    `SELECT count(*) AS "all", count(b.seq) AS "withBody", min(e.seq) AS first, max(e.seq) AS last ${fromMissing(of)}`,
    parametersOf(of),
  );
}

/**
 * Makes a page of work for a handler from the events of its oldest job, at most `limit` pieces, and notes that in the
 * same transaction. False when it has no job that goes on. Nothing else of the handler is due.
 */
export function* planHistory(of: Pick<LeaseRequest, "handler" | "now" | "limit" | "newestFirst">): StoreQuery<boolean> {
  const { handler, now, limit, newestFirst = false } = of;
  const row = yield* readFirst<JobRow>(`${SELECT_JOBS} WHERE ${HISTORIES} ORDER BY job LIMIT 1 FOR UPDATE`, of);
  if (row === undefined || row.position === null) return false;
  if (limit === 0) return true;
  const choice = JSON.parse(row.choice) as HistoryOfJob;
  const { after, through } = JSON.parse(row.position) as HistoryRange;
  const from = newestFirst ? Math.max(after, through - LOOKED_AT) : after;
  const to = newestFirst ? through : Math.min(through, after + LOOKED_AT);
  const page = yield* readRows<{ seq: number }>(
    `SELECT e.seq ${fromMissing(choice)} AND b.seq IS NOT NULL AND e.seq > :from AND e.seq <= :to
      ORDER BY e.seq ${newestFirst ? "DESC" : "ASC"} LIMIT :limit`,
    { ...parametersOf(choice), from, to, limit },
  );
  const seqs = page.map(({ seq }) => seq);
  // Retention and erasures lock events too: none loses its body meanwhile, and gets work without one.
  if (seqs.length > 0) yield* lockEvents(seqs);
  const done = seqs.length === 0 ? 0 : yield* run(PLAN, { seqs, handler, now });
  const last = page.length === limit ? seqs.at(-1) : undefined;
  const left = newestFirst ? { after, through: (last ?? from + 1) - 1 } : { after: last ?? to, through };
  yield* stepJob({ row, next: left.after < left.through ? left : undefined, now, done });
  return true;
}

const PLAN = `
  INSERT INTO pigeonhole.inbox_work (seq, handler, state, due_at, started, finished)
  SELECT b.seq, :handler, 'pending', :now::bigint, 0, 0 FROM pigeonhole.inbox_body AS b
  WHERE b.seq = ANY(:seqs::bigint[]) AND NOT EXISTS (
    SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = b.seq AND w.handler = '${NOTE_HANDLER}')
  ON CONFLICT (seq, handler) DO NOTHING`;
