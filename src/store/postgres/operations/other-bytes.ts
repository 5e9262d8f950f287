import type { Sql } from "../sql.js";

const IN_BODIES =
  "seq IN (SELECT :first::bigint UNION ALL SELECT seq FROM pigeonhole.inbox_other WHERE first = :first)";

/** One body of an id, for one handler. */
export interface BodyForHandler {
  first: number;
  handler: string;
  seq: number;
}

/**
 * Lets one transaction at a time decide about the bodies of an id, by the row of the first of them. Returns the number
 * of the first, and whether there are others.
 */
export async function lockBodies(sql: Sql, seq: number): Promise<{ first: number; hasOthers: boolean }> {
  const found = await firstOf(sql, seq);
  await sql.run("SELECT 1 FROM pigeonhole.inbox_event WHERE seq = :first FOR UPDATE", { first: found ?? seq });
  // Another body may have come before the lock.
  const first = found ?? (await firstOf(sql, seq));
  return { first: first ?? seq, hasOthers: first !== undefined };
}

/** The number of the first body under the event's id; undefined when it always was the only one. */
async function firstOf(sql: Sql, seq: number): Promise<number | undefined> {
  const row = await sql.row<{ first: number }>(
    `SELECT first FROM pigeonhole.inbox_other WHERE seq = :seq OR first = :seq
     UNION ALL SELECT first FROM pigeonhole.inbox_holder WHERE first = :seq LIMIT 1`,
    { seq },
  );
  return row?.first;
}

/** True while all bodies of the id are parked, and no handler has run on one of them. */
export async function isUnhandled(sql: Sql, first: number): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM pigeonhole.inbox_work WHERE ${IN_BODIES})
       AND NOT EXISTS (
         SELECT 1 FROM pigeonhole.inbox_work WHERE ${IN_BODIES} AND (state <> 'parked' OR reason = 'crash_loop'))`,
    { first },
  );
  return found !== undefined;
}

/** Notes that an event is another body of an id, which these handlers now have. */
export async function addOtherBody(
  sql: Sql,
  { seq, first, handlers }: { seq: number; first: number; handlers: readonly string[] },
): Promise<void> {
  await sql.run("INSERT INTO pigeonhole.inbox_other (seq, first) VALUES (:seq, :first)", { seq, first });
  await sql.run(
    `INSERT INTO pigeonhole.inbox_holder (first, handler, seq)
     SELECT :first, handler, :seq FROM unnest(:handlers::text[]) AS h (handler)
     ON CONFLICT (first, handler) DO UPDATE SET seq = excluded.seq`,
    { seq, first, handlers },
  );
}

/** True when another body of the id is handled by this handler, or was; a holder that is gone was settled. */
async function isWithOther(sql: Sql, of: BodyForHandler): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found FROM pigeonhole.inbox_holder AS h
     WHERE h.first = :first AND h.handler = :handler AND h.seq <> :seq
       AND (h.seq = 0
         OR EXISTS (
           SELECT 1 FROM pigeonhole.inbox_work AS w
           WHERE w.seq = h.seq AND w.handler = :handler AND w.state IN ('pending', 'leased', 'done')
             AND NOT w.discarded))`,
    of,
  );
  return found !== undefined;
}

/** Gives this body to the handler, unless that has another one of the id. */
export async function takeBody(sql: Sql, of: BodyForHandler): Promise<boolean> {
  if (await isWithOther(sql, of)) return false;
  await sql.run(
    `INSERT INTO pigeonhole.inbox_holder (first, handler, seq) VALUES (:first, :handler, :seq)
     ON CONFLICT (first, handler) DO UPDATE SET seq = excluded.seq`,
    of,
  );
  return true;
}

/** The other bodies of an id as they are listed, and the handlers of this one that have another. */
export async function readOthers(sql: Sql, seq: number): Promise<{ ids: string[]; withOther: Set<string> }> {
  const first = await firstOf(sql, seq);
  if (first === undefined) return { ids: [], withOther: new Set() };
  const others = await sql.rows<{ id: string }>(
    `SELECT id FROM pigeonhole.inbox_event WHERE ${IN_BODIES} AND seq <> :seq ORDER BY seq`,
    { first, seq },
  );
  const ended = await sql.rows<{ handler: string }>(
    "SELECT handler FROM pigeonhole.inbox_work WHERE seq = :seq AND discarded",
    { seq },
  );
  const withOther = new Set<string>();
  for (const { handler } of ended) if (await isWithOther(sql, { first, handler, seq })) withOther.add(handler);
  return { ids: others.map(({ id }) => id), withOther };
}
