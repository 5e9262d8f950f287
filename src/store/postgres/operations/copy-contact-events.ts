import type { CopiedCall, CopiedContactEvent } from "../../copied-rows.js";
import type { Sql } from "../sql.js";
import { nameOfContactEvent } from "./contact-event-name.js";

const SELECT_KNOWN = `
  SELECT key, recorded_at AS "recordedAt", body FROM pigeonhole.outbox_event WHERE key = ANY(:keys)`;

const SELECT_CALLS = "SELECT key, send FROM pigeonhole.outbox_send WHERE key = ANY(:keys)";

const INSERT_CALL = `
  INSERT INTO pigeonhole.outbox_send (key, kind, state, due_at, waits_since, started, error)
  VALUES (:key, :kind, :state, CASE WHEN :state = 'pending' THEN coalesce(:dueAt::bigint, :now::bigint) END,
    :waitsSince::bigint, :started::integer, :error)
  RETURNING send`;

const INSERT_EVENTS = `
  INSERT INTO pigeonhole.outbox_event (key, name, body, occurred_at, recorded_at, by_handler, state, send, position,
    attempts, settled_at, remote_id, reason, code, param, message, trace, inbox_seq)
  SELECT key, name, body, occurred_at, recorded_at, by_handler, state, send, position, attempts, settled_at, remote_id,
    reason, code, param, message, trace, (SELECT i.seq FROM pigeonhole.inbox_event AS i WHERE i.id = inbox_event_id)
  FROM unnest(:keys::text[], :names::text[], :bodies::text[], :occurredAts::bigint[], :recordedAts::bigint[],
    :byHandlers::boolean[], :states::text[], :sends::bigint[], :positions::integer[], :attempts::integer[],
    :settledAts::bigint[], :remoteIds::text[], :reasons::text[], :codes::text[], :params::text[], :messages::text[],
    :traces::text[], :inboxEventIds::text[]) WITH ORDINALITY
    AS g (key, name, body, occurred_at, recorded_at, by_handler, state, send, position, attempts, settled_at, remote_id,
      reason, code, param, message, trace, inbox_event_id, place)
  ORDER BY place
  ON CONFLICT (key) WHERE NOT by_handler DO NOTHING`;

/**
 * Stores copied contact events with their calls, except those that are there: they were copied before. Returns how many
 * were new. In one transaction.
 */
export async function copyContactEvents(sql: Sql, events: readonly CopiedContactEvent[], now: number): Promise<number> {
  const known = await sql.rows<Pick<CopiedContactEvent, "key" | "recordedAt" | "body">>(SELECT_KNOWN, {
    keys: events.map(({ key }) => key),
  });
  const knownOnes = new Set(known.map(identityOf));
  const news = events.filter((event) => !knownOnes.has(identityOf(event)));
  if (news.length === 0) return 0;
  const sends = await insertCalls(
    sql,
    news.flatMap(({ call }) => (call === undefined ? [] : [call])),
    now,
  );
  return sql.run(INSERT_EVENTS, {
    keys: news.map(({ key }) => key),
    names: news.map(nameOfContactEvent),
    bodies: news.map(({ body }) => body),
    occurredAts: news.map(({ occurredAt }) => occurredAt),
    recordedAts: news.map(({ recordedAt }) => recordedAt),
    byHandlers: news.map(({ byHandler }) => byHandler),
    states: news.map(({ state }) => state),
    sends: news.map(({ call }) => (call === undefined ? null : (sends.get(call.key) ?? null))),
    positions: news.map(({ position }) => position),
    attempts: news.map(({ attempts }) => attempts),
    settledAts: news.map(({ settledAt }) => settledAt),
    remoteIds: news.map(({ remoteId }) => remoteId),
    reasons: news.map(({ reason }) => reason),
    codes: news.map(({ code }) => code),
    params: news.map(({ param }) => param),
    messages: news.map(({ message }) => message),
    traces: news.map(({ trace }) => trace),
    inboxEventIds: news.map(({ inboxEventId }) => inboxEventId),
  });
}

/** One that a handler recorded has a key that others may have too, as after a retry by hand. */
const identityOf = ({ key, recordedAt, body }: Pick<CopiedContactEvent, "key" | "recordedAt" | "body">): string =>
  JSON.stringify([key, recordedAt, body]);

/** Returns the number of each call by its key. One whose first members were copied before is there. */
async function insertCalls(sql: Sql, calls: readonly CopiedCall[], now: number): Promise<Map<string, number>> {
  const byKey = new Map(calls.map((call) => [call.key, call]));
  const found = await sql.rows<{ key: string; send: number }>(SELECT_CALLS, { keys: [...byKey.keys()] });
  const sends = new Map(found.map(({ key, send }) => [key, send]));
  for (const [key, call] of byKey) {
    if (sends.has(key)) continue;
    const row = await sql.row<{ send: number }>(INSERT_CALL, { ...call, now });
    if (row !== undefined) sends.set(key, row.send);
  }
  return sends;
}
