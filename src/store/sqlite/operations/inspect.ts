import type { Database } from "better-sqlite3";
import { type EventDetail, type EventView, type HandlerView, pageLimit } from "../../inbox-view.js";
import { type PatientEventPage, type PatientEventQuery, cursorsOf, listWindows } from "../../list-windows.js";
import { WORK_STATES, mostUrgentState } from "../../work-state.js";
import { prepareOtherBytes } from "./other-bytes.js";
import { type Nullable, checkState, readSeqCursor, withoutNulls } from "../../check-query.js";
import { prepareReadFailedRuns } from "./failed-runs.js";
import { prepareReadKeptSteps } from "./steps.js";
import { OPEN } from "./open-work.js";
import { bindChoice, eventConditions } from "./work-choice.js";

interface EventRow {
  seq: number;
  id: string;
  type: string;
  test: number;
  receivedAt: number;
  signedAt: number;
}

type WorkRow = Pick<HandlerView, "handler" | "state" | "attempts"> &
  Nullable<Pick<HandlerView, "reason" | "error" | "maxAttempts" | "dueAt" | "settledAt" | "retryRequestedAt">> & {
    discarded: number;
  };

const STUCK_STATES = ["dead", "parked"];

const EVENT_COLUMNS = "seq, id, type, test, received_at AS receivedAt, signed_at AS signedAt";

/** Reads what an event has beside its row: the state of each handler, and its other bytes. */
function prepareView(db: Database): (row: EventRow) => EventView {
  const selectWork = db.prepare<{ seq: number }, WorkRow>(`
    SELECT w.handler, state, reason, error, started AS attempts, due_at AS dueAt, settled_at AS settledAt, discarded,
      iif(w.handler = '', waits_since, NULL) AS retryRequestedAt, h.max_attempts AS maxAttempts
    FROM inbox_work AS w LEFT JOIN inbox_handler AS h ON h.handler = w.handler
    WHERE w.seq = :seq ORDER BY w.handler`);
  const selectOthers = db
    .prepare<{ seq: number; first: number }, string>(`
    SELECT id FROM inbox_event
    WHERE seq IN (SELECT :first UNION ALL SELECT seq FROM inbox_other WHERE first = :first) AND seq <> :seq ORDER BY seq`)
    .pluck();
  const otherBytes = prepareOtherBytes(db);

  return (row) => {
    const { seq, id, type, receivedAt, signedAt } = row;
    const first = otherBytes.firstOf(seq);
    const handlers = selectWork.all({ seq }).map(({ discarded, ...work }): HandlerView => {
      const shown = { ...withoutNulls<Omit<HandlerView, "discarded">>(work), discarded: discarded === 1 };
      const isOther = first !== undefined && shown.discarded && otherBytes.has({ first, handler: work.handler, seq });
      return isOther ? { ...shown, reason: "other_bytes" } : shown;
    });
    const state = mostUrgentState(handlers);
    const others = first === undefined ? [] : selectOthers.all({ seq, first });
    return { id, type, test: row.test === 1, receivedAt, signedAt, state, handlers, otherBytes: others };
  };
}

/** Reads events with the state of each handler. */
export function prepareInspect(db: Database) {
  const selectById = db.prepare<{ id: string }, EventRow>(`SELECT ${EVENT_COLUMNS} FROM inbox_event WHERE id = :id`);
  const readFailedRuns = prepareReadFailedRuns(db);
  const readSteps = prepareReadKeptSteps(db);
  const selectBody = db.prepare<{ seq: number }, Uint8Array>("SELECT body FROM inbox_body WHERE seq = :seq").pluck();
  const view = prepareView(db);

  const selectNewest = db.prepare<[], number>("SELECT seq FROM inbox_event ORDER BY seq DESC LIMIT 1").pluck();

  function list(query: PatientEventQuery): PatientEventPage {
    const limit = pageLimit.read("limit", query.limit);
    if (query.state !== undefined) checkState(query.state, WORK_STATES);
    const filters = ["seq < :before", "seq >= :floor", ...eventConditions(query)];
    const select = db.prepare<object, EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM inbox_event WHERE ${filters.join(" AND ")} ORDER BY seq DESC LIMIT :most`,
    );
    const values = bindChoice(query);
    const rows: EventRow[] = [];
    let lowest = 0;
    for (const { before, floor } of listWindows(query, {
      before: readSeqCursor(query.cursor),
      newest: selectNewest.get() ?? 0,
    })) {
      rows.push(...select.all({ ...values, before, floor, most: limit + 1 - rows.length }));
      lowest = floor;
      if (rows.length > limit) break;
    }
    return { items: rows.slice(0, limit).map(view), ...cursorsOf(rows, limit, lowest) };
  }

  function get({ id }: { id: string }): EventDetail | undefined {
    const row = selectById.get({ id });
    if (row === undefined) return undefined;
    const { seq } = row;
    const { handlers, ...event } = view(row);
    return {
      ...event,
      handlers: handlers.map((work) => ({
        ...work,
        failed: readFailedRuns({ ...work, seq }),
        steps: readSteps({ ...work, seq }),
      })),
      seq,
      body: selectBody.get({ seq }),
    };
  }

  const selectStuck = db.prepare<object, { seq: number; id: string }>(`
    SELECT DISTINCT w.seq, e.id FROM inbox_work AS w INDEXED BY inbox_work_open JOIN inbox_event AS e ON e.seq = w.seq
    WHERE w.${OPEN} AND w.state = :state AND w.seq > :afterSeq ORDER BY w.seq LIMIT :limit`);

  return {
    list,
    get,
    listStuck: (query: { state: "dead" | "parked"; limit: number; afterSeq: number }) => {
      checkState(query.state, STUCK_STATES);
      return selectStuck.all(query);
    },
  };
}
