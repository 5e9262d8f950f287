import type { Sql } from "../sql.js";

/** Reads the bodies of events by their ids, but none that is larger than a limit. */
export async function readBodies(
  sql: Sql,
  { ids, maxBytes }: { ids: readonly string[]; maxBytes: number },
): Promise<Map<string, Uint8Array>> {
  const rows = await sql.rows<{ id: string; body: Uint8Array }>(
    `SELECT e.id, b.body FROM pigeonhole.inbox_event AS e JOIN pigeonhole.inbox_body AS b ON b.seq = e.seq
     WHERE e.id = ANY(:ids) AND length(b.body) <= :maxBytes`,
    { ids, maxBytes },
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}
