import type { ContactEventCall, OutboxState } from "../../outbox.js";
import type { Sql } from "../sql.js";

/** One call is settled at a time: what was refused then for the same reason was refused together. */
const SELECT = `
  SELECT e.seq, e.state, ARRAY(
    SELECT m.body FROM pigeonhole.outbox_event AS m WHERE m.send = e.send ORDER BY m.position
  ) AS called, ARRAY(
    SELECT m.body FROM pigeonhole.outbox_event AS m
    WHERE e.state = 'dead' AND e.send IS NULL AND m.state = 'dead' AND m.send IS NULL
      AND m.settled_at = e.settled_at AND m.message IS NOT DISTINCT FROM e.message
    ORDER BY m.seq
  ) AS refused, e.body
  FROM pigeonhole.outbox_event AS e WHERE e.seq = ANY(:seqs::bigint[])`;

interface Row {
  seq: number;
  state: OutboxState;
  called: string[];
  refused: string[];
  body: string;
}

/** Reads the bodies of contact events with those of their calls; of a refused call, what was refused with them. */
export async function readCalls(
  sql: Sql,
  { seqs }: { seqs: readonly number[] },
): Promise<Map<number, ContactEventCall>> {
  const rows = await sql.rows<Row>(SELECT, { seqs });
  return new Map(
    rows.map(({ seq, state, called, refused, body }) => {
      const bodies = [called, refused].find(({ length }) => length > 0) ?? [body];
      return [seq, { state, bodies }];
    }),
  );
}
