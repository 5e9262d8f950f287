import { crc32 } from "../../../base/crc32.js";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { errorKeyOf } from "../../error-kind.js";
import { digestOf } from "../../queries/newest.js";
import type { AcceptResult, NewEvent } from "../../store.js";
import type { Lease } from "../../work.js";
import { givenRows, listsOf, tracesOf } from "./given-rows.js";
import type { LeaseHolder } from "./recover.js";
import type { Sql } from "../sql.js";
import { removeUnhandled } from "../../queries/replan.js";

const EVENTS = `id text, type text, test boolean, received_at bigint, signed_at bigint, body_at integer,
  body_length integer, body_crc bigint, trace text`;
/** Work by the place of its event. */
const WORK = `place bigint, handler text, state text, lease_until bigint, reason text, error text, error_group text,
  newest_key text, created_at bigint`;

/**
 * Events are numbered in the order given, and inserted in the order of their ids: two processes whose batches overlap
 * would otherwise wait for each other. Known ids are left out.
 */
const ACCEPT = `
  WITH given AS MATERIALIZED (
    SELECT nextval('pigeonhole.inbox_event_number') AS seq, g.* FROM ${givenRows(EVENTS)}
  ), stored AS (
    INSERT INTO pigeonhole.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    SELECT seq, id, type, test, received_at, signed_at, body_length, body_crc FROM given ORDER BY id COLLATE "C"
    ON CONFLICT (id) DO NOTHING RETURNING seq
  ), bodies AS (
    INSERT INTO pigeonhole.inbox_body (seq, body, trace)
    SELECT seq, substring(:bodies::bytea FROM body_at + 1 FOR body_length), trace FROM given JOIN stored USING (seq)
  ), work AS (
    INSERT INTO pigeonhole.inbox_work
      (seq, handler, state, due_at, lease, lease_until, process, settled_at, started, finished, reason, error,
        error_type, error_group, failed_at, newest_key, created_at)
    SELECT seq, w.handler, w.state, CASE w.state WHEN 'pending' THEN received_at END,
      CASE w.state WHEN 'leased' THEN :token::bigint END, w.lease_until,
      CASE w.state WHEN 'leased' THEN :process::integer END, CASE w.state WHEN 'parked' THEN received_at END,
      CASE w.state WHEN 'leased' THEN 1 ELSE 0 END, 0, w.reason, w.error,
      CASE w.state WHEN 'parked' THEN type END, w.error_group, CASE w.state WHEN 'parked' THEN received_at END,
      w.newest_key, w.created_at
    FROM ${givenRows(WORK, "w", "number")}
    JOIN given USING (place) JOIN stored USING (seq)
    RETURNING seq, handler, lease
  )
  SELECT place, seq, handler, lease AS token FROM given JOIN stored USING (seq) LEFT JOIN work USING (seq)`;

/**
 * Waits until all that was committed before is on the standby too, if there is a synchronous one: nothing else is
 * written here, so its commit would wait for nothing, while the event that is known already may not be there yet.
 */
const SELECT_KNOWN_DURABLY = `
  WITH written AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'pigeonhole', ''))
  SELECT seq, id, body_length AS length, body_crc AS crc FROM pigeonhole.inbox_event
  WHERE id = ANY(:ids) AND EXISTS (SELECT 1 FROM written)`;

interface Known {
  seq: number;
  id: string;
  length: number;
  crc: number;
}

interface Stored {
  seq: number;
  leases: Lease[];
}

/** Stores events with their bodies and work, each once. Undefined for those whose id is known. */
export async function storeEvents(
  sql: Sql,
  holder: LeaseHolder,
  events: readonly NewEvent[],
): Promise<(AcceptResult | undefined)[]> {
  const firsts = new Map<string, number>();
  for (const [index, { id }] of events.entries()) if (!firsts.has(id)) firsts.set(id, index);
  const news = [...firsts.values()].map((index) => events[index] as NewEvent);
  const stored = await insertEvents(sql, holder, news);
  const results: (AcceptResult | undefined)[] = events.map(() => undefined);
  for (const [place, index] of [...firsts.values()].entries()) {
    const found = stored.get(place);
    if (found !== undefined) results[index] = { kind: "stored", ...found, otherBytes: false };
  }
  return results;
}

/** What is known under the ids of events: the same event, another body, or nothing that retention has left. */
export type Comparison = { kind: "same" } | { kind: "other"; first: number } | { kind: "gone" };

/**
 * Compares events with what is known under their ids. Not in the statement that found them known, which does not see
 * what others had just committed.
 */
export async function compareEvents(sql: Sql, events: readonly NewEvent[]): Promise<Comparison[]> {
  const rows = await sql.rows<Known>(SELECT_KNOWN_DURABLY, { ids: [...new Set(events.map(({ id }) => id))] });
  const known = new Map(rows.map((row) => [row.id, row]));
  return events.map(({ id, body }) => {
    const first = known.get(id);
    if (first === undefined) return { kind: "gone" };
    const isSame = first.length === body.byteLength && first.crc === crc32(body);
    return isSame ? { kind: "same" } : { kind: "other", first: first.seq };
  });
}

/**
 * Stores other bytes of an id in place of an event that is parked and was never handled. Undefined where the id has
 * become that of another event.
 */
export async function storeInstead(
  sql: Sql,
  holder: LeaseHolder,
  { event, first }: { event: NewEvent; first: number },
): Promise<AcceptResult | undefined> {
  return sql.transaction(async () => {
    // All deliveries wait behind this one.
    await sql.script("SET LOCAL lock_timeout = '100ms'");
    const gives = event.parked === undefined && (await sql.perform(removeUnhandled(first)));
    if (!gives) return { kind: "duplicate", otherBytes: true };
    const stored = (await insertEvents(sql, holder, [event])).get(0);
    return stored && { kind: "stored", ...stored, otherBytes: true };
  });
}

interface InsertedRow {
  place: number;
  seq: number;
  handler: string | null;
  token: number | null;
}

/** By the place of each event that was new. */
async function insertEvents(sql: Sql, holder: LeaseHolder, events: readonly NewEvent[]): Promise<Map<number, Stored>> {
  const rows = await sql.keptRows<InsertedRow>(ACCEPT, {
    ...holder,
    ...eventLists(events),
    ...workLists(events, holder.process),
  });
  const tokens = new Map(rows.map(({ seq, handler, token }) => [`${seq} ${handler}`, token]));
  const stored = new Map<number, Stored>();
  for (const { place, seq } of rows) {
    const work = events[place - 1]?.work ?? [];
    const leases = work.flatMap(({ handler }) => {
      const token = tokens.get(`${seq} ${handler}`);
      return typeof token === "number" ? [{ seq, handler, token }] : [];
    });
    stored.set(place - 1, { seq, leases });
  }
  return stored;
}

/** The bodies are one parameter, which is sent as it is; a list of them would be sent as text. */
function eventLists(events: readonly NewEvent[]) {
  let bodyAt = 0;
  const rows = events.map(({ id, type, test, receivedAt, signedAt, body }) => {
    const [body_at, body_length] = [bodyAt, body.byteLength];
    bodyAt += body_length;
    const body_crc = crc32(body);
    return { id, type, test, received_at: receivedAt, signed_at: signedAt, body_at, body_length, body_crc };
  });
  return { ...listsOf(EVENTS, rows), trace: tracesOf(events), bodies: Buffer.concat(events.map(({ body }) => body)) };
}

/** A process without a number has no leases. */
function workLists(events: readonly NewEvent[], process: number) {
  const rows = events.flatMap(({ work, parked }, index) => {
    const place = index + 1;
    const planned = work.map(({ handler, leaseUntil, newest }) => {
      const leased =
        leaseUntil === undefined || process === 0 ? { state: "pending" } : { state: "leased", lease_until: leaseUntil };
      const ofKey = newest && { newest_key: digestOf(newest.key), created_at: newest.createdAt };
      return { place, handler, ...leased, ...ofKey };
    });
    if (parked === undefined) return planned;
    const { reason, detail: error } = parked;
    const error_group = errorKeyOf({ isParked: true, reason, error });
    return [...planned, { place, handler: NOTE_HANDLER, state: "parked", reason, error, error_group }];
  });
  return listsOf(WORK, rows);
}
