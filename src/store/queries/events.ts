import { isoTime } from "../../base/iso-time.js";
import { sourceNameOf } from "../../protocol/inbox-id.js";
import { type EventDetail, type EventView, type HandlerDetail, type HandlerView, pageLimit } from "../inbox-view.js";
import type { StuckQuery } from "../store.js";
import {
  type PatientEventPage,
  type PatientEventQuery,
  cursorsOf,
  listWindows,
  checkState,
  readSeqCursor,
} from "../list-windows.js";
import { EVENT_STATES, WORK_STATE, isOpen, stateOfEvent, isWaiting } from "../state-words.js";
import { readStatuses } from "./figures.js";
import { listPaused } from "./handlers.js";
import { SERVER_COLUMNS, type StoreQuery, readFirst, readRows } from "./store-query.js";
import { readKeptSteps } from "./steps.js";
import { choiceParameters, fromListed } from "./work-choice.js";
import type { GateName, ReportedStatus } from "../figures.js";
import { isAlive, isEnded } from "../process-state.js";

interface EventRow extends Pick<EventView, "id" | "type"> {
  seq: number;
  receivedAt: number;
  signedAt: number;
  test: boolean | 0 | 1;
}

type WorkTime = "dueAt" | "settledAt" | "retryRequestedAt";

type WorkRow = Omit<HandlerView, WorkTime | "failed" | "steps"> &
  Record<WorkTime | "heldUntil", number | null> & { seq: number };

const EVENT_COLUMNS = 'e.seq, e.id, e.type, e.test, e.received_at AS "receivedAt", e.signed_at AS "signedAt"';

/** Until when all work of the handler waits, as a run of it has asked. */
const HELD_UNTIL = `(
  SELECT max(o.due_at) FROM pigeonhole.inbox_work AS o
  WHERE o.state = 'pending' AND o.wait_holds = 'handler' AND o.waits_since IS NOT NULL AND o.handler = w.handler)`;

/** Its last run asked to wait, or another run that all work of the handler waits. */
const WAITS = `
  w.state = 'pending' AND (w.waits_since IS NOT NULL AND w.wait_holds IS NOT NULL OR ${HELD_UNTIL} IS NOT NULL)`;

const SELECT_WORK = `
  SELECT w.seq, w.handler, ${WORK_STATE} AS state, w.reason, w.error, w.started AS attempts, w.due_at AS "dueAt",
    w.settled_at AS "settledAt", CASE w.handler WHEN '' THEN w.waits_since END AS "retryRequestedAt",
    CASE w.waits WHEN 0 THEN h.max_attempts END AS "maxAttempts",
    CASE ${SERVER_COLUMNS.whenForKey}WHEN ${WAITS} THEN 'retry_after' END AS "waitsFor",
    CASE w.state WHEN 'pending' THEN ${HELD_UNTIL} END AS "heldUntil"
  FROM pigeonhole.inbox_work AS w LEFT JOIN pigeonhole.inbox_handler AS h ON h.handler = w.handler
  WHERE w.seq = ANY(:seqs) ORDER BY w.handler`;

/** A page of events with the state of each handler at the time `now`, newest first. */
export function* listEvents(query: PatientEventQuery, now: number): StoreQuery<PatientEventPage> {
  const limit = pageLimit.read("limit", query.limit);
  if (query.state !== undefined) checkState(query.state, EVENT_STATES);
  const select = `SELECT ${EVENT_COLUMNS} ${fromListed(query)}`;
  const values = choiceParameters(query);
  const newest = query.patienceMs === undefined ? 0 : yield* readNewest();
  const rows: EventRow[] = [];
  let lowest = 0;
  for (const { before, floor } of listWindows(query, { before: readSeqCursor(query.cursor), newest })) {
    rows.push(...(yield* readRows<EventRow>(select, { ...values, before, floor, most: limit + 1 - rows.length })));
    lowest = floor;
    if (rows.length > limit) break;
  }
  const items = yield* addGates(yield* viewAll(rows.slice(0, limit)), now);
  return { items, ...cursorsOf(rows, limit, lowest) };
}

function* readNewest(): StoreQuery<number> {
  const row = yield* readFirst<{ seq: number | null }>("SELECT max(seq) AS seq FROM pigeonhole.inbox_event");
  return row?.seq ?? 0;
}

/** One event with its bytes; undefined for an unknown id. */
export function* getEvent(id: string): StoreQuery<EventDetail | undefined> {
  const row = yield* readFirst<EventRow & { body: Uint8Array | null }>(
    `SELECT ${EVENT_COLUMNS}, b.body FROM pigeonhole.inbox_event AS e
     LEFT JOIN pigeonhole.inbox_body AS b ON b.seq = e.seq WHERE e.id = :id`,
    { id },
  );
  if (row === undefined) return undefined;
  const [view] = yield* viewAll([row]);
  if (view === undefined) return undefined;
  const failedOf = yield* readFailedRuns(row.seq);
  const stepsOf = yield* readKeptSteps(row.seq);
  const handlers = view.handlers.map((work) => ({ ...work, failed: failedOf(work), steps: stepsOf(work.handler) }));
  return { ...view, handlers, seq: row.seq, body: row.body };
}

/** Most ids that are found for one of the service. */
const MAX_SAME_IDS = 10;

/** Ids of events with this id of the service from named sources, the newest first. `+`: by their index alone. */
export function* listSameIds(eventId: string): StoreQuery<string[]> {
  const rows = yield* readRows<{ id: string }>(
    `SELECT e.id FROM pigeonhole.inbox_event AS e
     WHERE strpos(e.id, '/') > 0 AND substr(e.id, strpos(e.id, '/') + 1) = :eventId
     ORDER BY +e.seq DESC LIMIT ${MAX_SAME_IDS}`,
    { eventId },
  );
  return rows.map(({ id }) => id);
}

/** The newest event with this id of the service, of whatever named source. */
function* getNewestEvent(eventId: string): StoreQuery<EventDetail | undefined> {
  const [newest] = yield* listSameIds(eventId);
  return newest === undefined ? undefined : yield* getEvent(newest);
}

/** The same, also by the service's id alone, with the gates that keep its open work waiting at the time `now`. */
export function* getEventWithGates({ id, now }: { id: string; now: number }): StoreQuery<EventDetail | undefined> {
  const event = (yield* getEvent(id)) ?? (yield* getNewestEvent(id));
  return event && (yield* addGates([event], now))[0];
}

/** What processes say is read once for all of them, and only where work is open. */
function* addGates<Event extends EventView>(events: Event[], now: number): StoreQuery<Event[]> {
  if (!events.some(({ handlers }) => handlers.some(({ state }) => isOpen(state)))) return events;
  const paused = new Set((yield* listPaused()).map(({ handler }) => handler));
  const statuses = yield* readStatuses();
  return events.map((event) => withGates(event, { paused, statuses, now }));
}

function* viewAll(rows: readonly EventRow[]): StoreQuery<EventView[]> {
  const work = yield* readRows<WorkRow>(SELECT_WORK, { seqs: rows.map(({ seq }) => seq) });
  const ofEvent = new Map<number, WorkRow[]>(rows.map(({ seq }) => [seq, []]));
  for (const row of work) ofEvent.get(row.seq)?.push(row);
  return rows.map((row) => viewOne(row, ofEvent.get(row.seq) ?? []));
}

function viewOne({ test, id, type, receivedAt, signedAt }: EventRow, work: readonly WorkRow[]): EventView {
  const handlers = work.map((ofHandler): HandlerView => {
    const { seq: _, dueAt, heldUntil, settledAt, retryRequestedAt, ...columns } = ofHandler;
    return {
      ...columns,
      dueAt: isoTime(dueAt === null ? null : Math.max(dueAt, heldUntil ?? dueAt)),
      settledAt: isoTime(settledAt),
      retryRequestedAt: isoTime(retryRequestedAt),
    };
  });
  return {
    id,
    source: sourceNameOf(id),
    type,
    test: Boolean(test),
    receivedAt: isoTime(receivedAt),
    signedAt: isoTime(signedAt),
    state: stateOfEvent(handlers),
    handlers,
  };
}

/** Reads the kept errors of an event: those of a handler's runs up to the number `attempts`. */
function* readFailedRuns(seq: number): StoreQuery<(work: HandlerView) => HandlerDetail["failed"]> {
  const runs = yield* readRows<{ handler: string; attempt: number; stack: string; at: number }>(
    "SELECT handler, attempt, stack, failed_at AS at FROM pigeonhole.inbox_failed WHERE seq = :seq ORDER BY attempt",
    { seq },
  );
  return (work) => {
    const kept = runs
      .filter(({ handler, attempt }) => handler === work.handler && attempt <= work.attempts)
      .map(({ attempt, stack, at }) => ({ attempt, stack, at: isoTime(at) }));
    const [first] = kept;
    const last = kept.at(-1);
    return first === undefined || last === undefined ? null : { first, last };
  };
}

const STUCK: Readonly<Record<StuckQuery["state"], string>> = {
  dead: "w.state <> 'done' AND w.state = 'dead'",
  parked: "w.state <> 'done' AND w.state = 'parked'",
  requested: "w.handler = '' AND w.state = 'parked' AND w.waits_since IS NOT NULL",
};

/** Ids of events that are stuck, oldest first. */
export function* listStuck({ state, ...page }: StuckQuery): StoreQuery<{ seq: number; id: string }[]> {
  checkState(state, Object.keys(STUCK));
  return yield* readRows<{ seq: number; id: string }>(
    `SELECT DISTINCT w.seq, e.id FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
     WHERE ${STUCK[state]} AND w.seq > :afterSeq ORDER BY w.seq LIMIT :limit`,
    page,
  );
}

/** The bodies of events by their ids, but none that is larger than a limit. */
export function* readBodies(query: { ids: readonly string[]; maxBytes: number }): StoreQuery<Map<string, Uint8Array>> {
  const bodies = yield* readRows<{ id: string; body: Uint8Array }>(
    `SELECT e.id, b.body FROM pigeonhole.inbox_event AS e JOIN pigeonhole.inbox_body AS b ON b.seq = e.seq
     WHERE e.id = ANY(:ids) AND length(b.body) <= :maxBytes`,
    query,
  );
  return new Map(bodies.map(({ id, body }) => [id, body]));
}

/** What people and processes say of handlers. */
interface Said {
  paused: ReadonlySet<string>;
  statuses: readonly ReportedStatus[];
  now: number;
}

/** The event with what its open work waits for, as the processes that live said last. */
function withGates<Event extends EventView>(event: Event, { paused, statuses, now }: Said): Event {
  const alive = statuses.filter((status) => !isEnded(status) && isAlive(status, now));
  const mayRun = (handler: string): boolean =>
    alive.some(
      ({ running, runningCount }) =>
        runningCount > running.length || running.some((run) => run.handler === handler && run.eventId === event.id),
    );
  const gateOf = ({ handler, state, dueAt, waitsFor: ownWait }: HandlerView): GateName | null => {
    if (isWaiting(state) && paused.has(handler)) return "paused";
    if (!isWaiting(state) && (state !== "running" || mayRun(handler))) return null;
    // What became due since then was not meant.
    const since = dueAt === null ? 0 : Date.parse(dueAt);
    const said = alive.find(({ waitsFor, reportedAt }) => Object.hasOwn(waitsFor, handler) && reportedAt >= since);
    return said?.waitsFor[handler] ?? ownWait;
  };
  return { ...event, handlers: event.handlers.map((work) => ({ ...work, waitsFor: gateOf(work) })) };
}
