import type { ComparableOutboxEvent, RecordResult } from "../../outbox.js";
import { isSameContactEvent } from "../../same-contact-event.js";
import type { Sql } from "../sql.js";
import { tracesOf } from "./traces-of.js";

const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('pigeonhole.outbox_event', 'seq')) AS seq, g.*
    FROM unnest(:keys::text[], :names::text[], :bodies::text[], :occurredAts::bigint[], :traces::text[])
      WITH ORDINALITY AS g (key, name, body, occurred_at, trace, place)
  ), stored AS (
    INSERT INTO pigeonhole.outbox_event (seq, key, name, body, occurred_at, recorded_at, trace, by_handler, state)
    OVERRIDING SYSTEM VALUE
    SELECT seq, key, name, body, occurred_at, :now::bigint, trace, false, 'pending' FROM given ORDER BY key COLLATE "C"
    ON CONFLICT (key) WHERE NOT by_handler DO NOTHING RETURNING seq
  )
  SELECT place FROM given JOIN stored USING (seq)`;

/** Records contact events from outside of handlers, once per key. */
export async function recordEvents(
  sql: Sql,
  events: readonly ComparableOutboxEvent[],
  now: number,
): Promise<RecordResult[]> {
  const firsts = new Map<string, number>();
  for (const [index, { key }] of events.entries()) if (!firsts.has(key)) firsts.set(key, index);
  const places = [...firsts.values()];
  const news = places.map((index) => events[index] as ComparableOutboxEvent);
  const stored = await sql.rows<{ place: number }>(INSERT, {
    keys: news.map(({ key }) => key),
    names: news.map(nameOfContactEvent),
    bodies: news.map(({ body }) => body),
    occurredAts: news.map(({ occurredAt }) => occurredAt),
    traces: tracesOf(news),
    now,
  });
  const recorded = new Set(stored.map(({ place }) => places[place - 1]));
  const rest = events.filter((_, index) => !recorded.has(index));
  // Nothing is committed, while what is known already may not be on the standby yet: this waits until it is.
  if (recorded.size === 0) await sql.run("SELECT pg_logical_emit_message(true, 'pigeonhole', '')");
  // In a statement of its own, since the one that found a key known does not see what others had just committed.
  const known = await readBodies(sql, rest);
  return events.map((event, index) => {
    if (recorded.has(index)) return "recorded";
    return isSameContactEvent(event, known.get(event.key) ?? "") ? "known" : "conflict";
  });
}

async function readBodies(sql: Sql, events: readonly ComparableOutboxEvent[]): Promise<Map<string, string>> {
  if (events.length === 0) return new Map();
  const rows = await sql.rows<{ key: string; body: string }>(
    "SELECT key, body FROM pigeonhole.outbox_event WHERE key = ANY(:keys) AND NOT by_handler",
    { keys: events.map(({ key }) => key) },
  );
  return new Map(rows.map(({ key, body }) => [key, body]));
}

/**
 * The name in a contact event's body, in a column of its own: PostgreSQL cannot read one field of a JSON text in which
 * another has U+0000 or half of a pair.
 */
export function nameOfContactEvent({ body }: { body: string }): string {
  const { name } = JSON.parse(body) as { name?: unknown };
  return typeof name === "string" ? name : "";
}
