import type { KnownTimes } from "../../store.js";
import type { Sql } from "../sql.js";
import { noteBegin } from "./known-ids.js";

/** Keeps the times given in place of those known, and returns all that are known then. */
export async function noteTimes(sql: Sql, times: KnownTimes): Promise<KnownTimes> {
  const given = Object.entries(times).filter(([, value]) => value !== undefined);
  if (given.length > 0) {
    await sql.run(
      `INSERT INTO pigeonhole.counter (name, value)
       SELECT * FROM unnest(:names::text[], :values::bigint[]) AS t (name, value) ORDER BY name
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      { names: given.map(([name]) => name), values: given.map(([, value]) => value) },
    );
  }
  if (times.clock !== undefined) await noteBegin(sql, times.clock);
  const rows = await sql.rows<{ name: string; value: number }>("SELECT name, value FROM pigeonhole.counter");
  const known = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const clock = known["clock"] ?? (await newestArrival(sql));
  return { clock, delivery: known["delivery"], api: known["api"] };
}

async function newestArrival(sql: Sql): Promise<number | undefined> {
  const row = await sql.row<{ at: number }>(
    "SELECT received_at AS at FROM pigeonhole.inbox_event ORDER BY seq DESC LIMIT 1",
  );
  return row?.at;
}
