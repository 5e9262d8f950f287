import type { Database } from "better-sqlite3";
import type { ContactEventCall, OutboxState } from "../../outbox.js";

interface Row {
  seq: number;
  state: OutboxState | "again";
  body: string;
  send: number | null;
}

/** Reads the bodies of contact events with those of their calls. */
export function prepareReadCalls(db: Database) {
  const select = db.prepare<{ seqs: string }, Row>(`
    SELECT seq, state, body, send FROM outbox_event WHERE seq IN (SELECT value FROM json_each(:seqs))`);
  const members = db
    .prepare<{ send: number }, string>("SELECT body FROM outbox_event WHERE send = :send ORDER BY position")
    .pluck();

  return ({ seqs }: { seqs: readonly number[] }): Map<number, ContactEventCall> => {
    const rows = select.all({ seqs: JSON.stringify(seqs) });
    const sends = new Set(rows.flatMap(({ send }) => send ?? []));
    const bodies = new Map([...sends].map((send) => [send, members.all({ send })]));
    const bodiesOf = ({ send, body }: Row): string[] => (send === null ? [body] : (bodies.get(send) ?? [body]));
    return new Map(
      rows.map((row) => [row.seq, { state: row.state === "again" ? "pending" : row.state, bodies: bodiesOf(row) }]),
    );
  };
}
