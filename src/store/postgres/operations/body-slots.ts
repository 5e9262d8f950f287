import type { Sql } from "../sql.js";

// Bodies go into the table of a slot, and are given back together: a DELETE of each would cost as much as storing it.
// Shown in test/store/postgres/body-slots.process.test.ts.

/** There is a table for each of them. */
const SLOTS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** Where the bodies are that are in no slot. */
export const NO_SLOT = 0;

/** The tables of the slots, without the schema. */
export const SLOT_TABLES: readonly string[] = SLOTS.map((slot) => `inbox_body_${slot}`);

/** The table of a slot. `ONLY` it: the others inherit from that of the bodies in no slot. */
export function bodiesIn(slot: number): string {
  return slot === NO_SLOT ? "pigeonhole.inbox_body" : `pigeonhole.inbox_body_${slot}`;
}

/** Where the bodies of new events go: an expression. */
export const CURRENT_SLOT = `
  coalesce((SELECT slot FROM pigeonhole.inbox_body_slot ORDER BY opened DESC LIMIT 1), ${NO_SLOT})`;

/** The slot for the bodies of new events, and the earlier ones, oldest first. */
export async function readSlots(sql: Sql): Promise<{ current: number; closed: number[] }> {
  const slots = await sql.rows<{ slot: number }>("SELECT slot FROM pigeonhole.inbox_body_slot ORDER BY opened");
  const closed = slots.map(({ slot }) => slot);
  return { current: closed.pop() ?? NO_SLOT, closed };
}

/** Below this number no event has its body in one of these slots. */
export async function firstSeqIn(sql: Sql, slots: readonly number[]): Promise<number> {
  if (slots.length === 0) return Number.MAX_SAFE_INTEGER;
  const firsts = slots.map((slot) => `(SELECT min(seq) FROM ONLY ${bodiesIn(slot)})`);
  const row = await sql.row<{ first: number | null }>(`SELECT least(${firsts.join(", ")}) AS first`);
  return row?.first ?? Number.MAX_SAFE_INTEGER;
}

/** Below it, to delete rows one by one is as good: what they took is used again. */
const OPENS_AFTER_BYTES = 64 * 1024 * 1024;

/** A slot takes the bodies of this part of the time for which they are kept: two slots more are in use at most. */
const PART_OF_RETENTION = 6;

/** What a clock that was ahead has noted was now. */
const CORRECT_TIMES = `
  UPDATE pigeonhole.inbox_body_slot SET opened_at = least(opened_at, :now), clear_at = NULL
  WHERE greatest(opened_at, clear_at) > :now`;

/** Of processes that do so at once, one opens it. One that may not empty slots opens none. */
const OPEN = `
  INSERT INTO pigeonhole.inbox_body_slot (slot, opened_at)
  SELECT slot, :now FROM unnest(:slots::integer[]) AS s (slot)
  WHERE ${CURRENT_SLOT} = :current AND slot NOT IN (SELECT slot FROM pigeonhole.inbox_body_slot)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_body_slot WHERE slot = :current AND opened_at > :openedBefore)
    AND has_table_privilege('${bodiesIn(1)}', 'TRUNCATE')
  ORDER BY slot LIMIT 1
  ON CONFLICT (slot) DO NOTHING`;

/** Opens an empty slot for the bodies of new events, if the current one has had its part. */
export async function openNextSlot(sql: Sql, { now, keptMs }: { now: number; keptMs: number }): Promise<void> {
  await sql.run(CORRECT_TIMES, { now });
  const { current } = await readSlots(sql);
  const filled = await sql.row<{ bytes: number }>(`SELECT pg_table_size('${bodiesIn(current)}'::regclass) AS bytes`);
  if (filled === undefined || filled.bytes < OPENS_AFTER_BYTES) return;
  await sql.run(OPEN, { now, slots: SLOTS, current, openedBefore: Math.floor(now - keptMs / PART_OF_RETENTION) });
}
