import type { ContactEventCall, OutboxState } from "../../outbox.js";
import type { Sql } from "../sql.js";

const SELECT = `
  SELECT e.seq, e.state, ARRAY(
    SELECT m.body FROM pigeonhole.outbox_event AS m WHERE m.send = e.send ORDER BY m.position
  ) AS called, e.body
  FROM pigeonhole.outbox_event AS e WHERE e.seq = ANY(:seqs::bigint[])`;

interface Row {
  seq: number;
  state: OutboxState;
  called: string[];
  body: string;
}

/** Reads the bodies of contact events with those of their calls. */
export async function readCalls(
  sql: Sql,
  { seqs }: { seqs: readonly number[] },
): Promise<Map<number, ContactEventCall>> {
  const rows = await sql.rows<Row>(SELECT, { seqs });
  return new Map(
    rows.map(({ seq, state, called, body }) => [seq, { state, bodies: called.length > 0 ? called : [body] }]),
  );
}
