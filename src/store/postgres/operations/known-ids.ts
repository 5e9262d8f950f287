import { type IdTimes, type KnownIds, readIdTimes } from "../../known-ids.js";
import type { Sql } from "../sql.js";

/** What the database knows of ids; `read` does the reading on a connection. */
export function knownIds(read: <Value>(doing: string, use: (sql: Sql) => Promise<Value>) => Promise<Value>): KnownIds {
  return {
    findIds: (ids) => read("looking for ids", (sql) => findIds(sql, ids)),
    idsKnownSince: () => read("reading times", readIdsKnownSince),
  };
}

async function findIds(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>("SELECT id FROM pigeonhole.inbox_event WHERE id = ANY(:ids::text[])", {
    ids,
  });
  return rows.map(({ id }) => id);
}

async function readIdsKnownSince(sql: Sql): Promise<number | undefined> {
  const times = await sql.row<IdTimes>(`
    SELECT (SELECT value FROM pigeonhole.counter WHERE name = 'begun') AS begun,
      (SELECT received_at FROM pigeonhole.inbox_event ORDER BY seq LIMIT 1) AS oldest,
      (SELECT value FROM pigeonhole.counter WHERE name = 'ids_removed_before') AS "removedBefore"`);
  return times === undefined ? undefined : readIdTimes(times);
}

/** Notes when a receiver first used the inbox, and later times not at all. */
export async function noteBegin(sql: Sql, now: number): Promise<void> {
  await sql.run("INSERT INTO pigeonhole.counter (name, value) VALUES ('begun', :now) ON CONFLICT (name) DO NOTHING", {
    now: Math.ceil(now),
  });
}

/** Notes that ids from before a time may be removed, unless a later time is noted. */
export async function noteRemoval(sql: Sql, before: number): Promise<void> {
  await sql.run(
    `INSERT INTO pigeonhole.counter AS t (name, value) VALUES ('ids_removed_before', :before)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE t.value < excluded.value`,
    // A clock may have fractions of milliseconds.
    { before: Math.ceil(before) },
  );
}
