import type { Sql } from "../sql.js";

/** There is a table for each of them. */
const SLOTS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** Where the bodies are that are in no slot. */
export const NO_SLOT = 0;

/** A slot, and the number of its opening: it is opened again once it was emptied. */
export interface BodySlot {
  slot: number;
  opened: number;
}

/** The tables of the slots, without the schema. */
export const SLOT_TABLES: readonly string[] = SLOTS.map((slot) => `inbox_body_${slot}`);

/** The table of a slot. `ONLY` it: the others inherit from that of the bodies in no slot. */
export function bodiesIn(slot: number): string {
  return slot === NO_SLOT ? "pigeonhole.inbox_body" : `pigeonhole.inbox_body_${slot}`;
}

/** Where the bodies of new events go: an expression. */
export const CURRENT_SLOT = `
  coalesce((SELECT slot FROM pigeonhole.body_slot ORDER BY opened DESC LIMIT 1), ${NO_SLOT})`;

/** The slot for the bodies of new events, and the earlier ones, oldest first. */
export async function readSlots(sql: Sql): Promise<{ current: number; closed: BodySlot[] }> {
  const closed = await sql.rows<BodySlot>("SELECT slot, opened FROM pigeonhole.body_slot ORDER BY opened");
  const current = closed.pop()?.slot ?? NO_SLOT;
  return { current, closed };
}

/** Below this number no event has its body in one of these slots. */
export async function firstSeqIn(sql: Sql, slots: readonly BodySlot[]): Promise<number> {
  if (slots.length === 0) return Number.MAX_SAFE_INTEGER;
  const firsts = slots.map(({ slot }) => `(SELECT min(seq) FROM ONLY ${bodiesIn(slot)})`);
  const row = await sql.row<{ first: number | null }>(`SELECT least(${firsts.join(", ")}) AS first`);
  return row?.first ?? Number.MAX_SAFE_INTEGER;
}

/** Below it, to delete rows one by one is as good: what they took is used again. */
const OPENS_AFTER_BYTES = 64 * 1024 * 1024;

/** A slot takes the bodies of this part of the time for which they are kept: two slots more are in use at most. */
const PART_OF_RETENTION = 6;

interface Filled {
  bytes: number;
  /** When the first event with a body in it was received. */
  since: number | null;
}

/** Opens an empty slot for the bodies of new events, if the current one has had its part. */
export async function openNextSlot(
  sql: Sql,
  current: number,
  { now, keptMs }: { now: number; keptMs: number },
): Promise<void> {
  const filled = await sql.row<Filled>(
    `SELECT pg_table_size('${bodiesIn(current)}'::regclass) AS bytes, (
       SELECT e.received_at FROM (SELECT seq FROM ONLY ${bodiesIn(current)} ORDER BY seq LIMIT 1) AS b
       JOIN pigeonhole.inbox_event AS e ON e.seq = b.seq) AS since`,
  );
  if (filled === undefined || filled.bytes < OPENS_AFTER_BYTES) return;
  if (current !== NO_SLOT && !hasHadItsPart(filled.since, now, keptMs / PART_OF_RETENTION)) return;
  // Of processes that do so at once, one opens it.
  await sql.run(
    `INSERT INTO pigeonhole.body_slot (slot)
     SELECT slot FROM unnest(:slots::integer[]) AS s (slot)
     WHERE ${CURRENT_SLOT} = :current AND slot NOT IN (SELECT slot FROM pigeonhole.body_slot)
     ORDER BY slot LIMIT 1
     ON CONFLICT (slot) DO NOTHING`,
    { slots: SLOTS, current },
  );
}

/** Also when it began far ahead of now, by a wrong clock. */
function hasHadItsPart(since: number | null, now: number, partMs: number): boolean {
  return since !== null && Math.abs(now - since) >= partMs;
}
