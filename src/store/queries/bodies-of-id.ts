import { type StoreQuery, exists, readFirst, readRows, run } from "./store-query.js";

// Bodies that came under one id: the first, and those kept beside it while nothing of the id was handled.

const IN_BODIES = `
  seq IN (SELECT :first::bigint UNION ALL SELECT seq FROM pigeonhole.inbox_other WHERE first = :first)`;

/** One body of an id, for one handler. */
export interface BodyForHandler {
  first: number;
  handler: string;
  seq: number;
}

/** The number of the first body under the event's id; undefined when it always was the only one. */
export function* firstBodyOf(seq: number): StoreQuery<number | undefined> {
  const found = yield* readFirst<{ first: number }>(
    `SELECT first FROM pigeonhole.inbox_other WHERE seq = :seq OR first = :seq
     UNION ALL SELECT first FROM pigeonhole.inbox_holder WHERE first = :seq LIMIT 1`,
    { seq },
  );
  return found?.first;
}

/** True while all bodies of the id are parked, and no handler has run on one of them. */
export function isUnhandled(first: number): StoreQuery<boolean> {
  return exists(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM pigeonhole.inbox_work WHERE ${IN_BODIES})
       AND NOT EXISTS (
         SELECT 1 FROM pigeonhole.inbox_work WHERE ${IN_BODIES} AND (state <> 'parked' OR reason = 'crash_loop'))`,
    { first },
  );
}

/** Notes that an event is another body of an id, which these handlers now have. */
export function* addBody(other: { seq: number; first: number; handlers: readonly string[] }): StoreQuery<void> {
  const { seq, first, handlers } = other;
  yield* run("INSERT INTO pigeonhole.inbox_other (seq, first) VALUES (:seq, :first)", { seq, first });
  for (const handler of handlers) yield* hold({ first, handler, seq });
}

/** Gives this body to the handler, unless that has another one of the id. */
export function* takeBody(body: BodyForHandler): StoreQuery<boolean> {
  if (yield* isWithOther(body)) return false;
  yield* hold(body);
  return true;
}

function hold(body: BodyForHandler): StoreQuery<number> {
  return run(
    `INSERT INTO pigeonhole.inbox_holder (first, handler, seq) VALUES (:first, :handler, :seq)
     ON CONFLICT (first, handler) DO UPDATE SET seq = excluded.seq`,
    body,
  );
}

/** True when another body of the id is handled by this handler, or was; a holder that is gone was settled. */
function isWithOther(body: BodyForHandler): StoreQuery<boolean> {
  return exists(
    `SELECT 1 AS found FROM pigeonhole.inbox_holder AS h
     WHERE h.first = :first AND h.handler = :handler AND h.seq <> :seq
       AND (h.seq = 0 OR EXISTS (
         SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = h.seq AND w.handler = :handler
           AND w.state IN ('pending', 'leased', 'done') AND NOT w.discarded))`,
    body,
  );
}

/** The other bodies of an id as they are listed, and which of these handlers have another one than this. */
export function* readOtherBodies(
  seq: number,
  discarded: readonly string[],
): StoreQuery<{ ids: string[]; withOther: Set<string> }> {
  const withOther = new Set<string>();
  const first = yield* firstBodyOf(seq);
  if (first === undefined) return { ids: [], withOther };
  const others = yield* readRows<{ id: string }>(
    `SELECT id FROM pigeonhole.inbox_event WHERE ${IN_BODIES} AND seq <> :seq ORDER BY seq`,
    { first, seq },
  );
  for (const handler of discarded) if (yield* isWithOther({ first, handler, seq })) withOther.add(handler);
  return { ids: others.map(({ id }) => id), withOther };
}
