import type { Database } from "better-sqlite3";
import type { ContactEventCall, OutboxState } from "../../outbox.js";

interface Row {
  seq: number;
  state: OutboxState | "again";
  body: string;
  send: number | null;
  settledAt: number | null;
  message: string | null;
}

/** Reads the bodies of contact events with those of their calls; of a refused call, what was refused with them. */
export function prepareReadCalls(db: Database) {
  const select = db.prepare<{ seqs: string }, Row>(`
    SELECT seq, state, body, send, settled_at AS settledAt, message FROM outbox_event
    WHERE seq IN (SELECT value FROM json_each(:seqs))`);
  const members = db
    .prepare<{ send: number }, string>("SELECT body FROM outbox_event WHERE send = :send ORDER BY position")
    .pluck();
  const refused = db.prepare<{ times: string }, Row>(`
    SELECT seq, state, body, send, settled_at AS settledAt, message FROM outbox_event
    WHERE state = 'dead' AND send IS NULL AND settled_at IN (SELECT value FROM json_each(:times)) ORDER BY seq`);

  return ({ seqs }: { seqs: readonly number[] }): Map<number, ContactEventCall> => {
    const rows = select.all({ seqs: JSON.stringify(seqs) });
    const sends = new Set(rows.flatMap(({ send }) => send ?? []));
    const bodies = new Map([...sends].map((send) => [send, members.all({ send })]));
    const times = new Set(rows.flatMap((row) => (isRefused(row) ? (row.settledAt ?? []) : [])));
    const together = times.size === 0 ? [] : refused.all({ times: JSON.stringify([...times]) });
    const bodiesOf = (row: Row): string[] => {
      if (row.send !== null) return bodies.get(row.send) ?? [row.body];
      return isRefused(row) ? together.filter((other) => isSameAnswer(row, other)).map(({ body }) => body) : [row.body];
    };
    return new Map(
      rows.map((row) => [row.seq, { state: row.state === "again" ? "pending" : row.state, bodies: bodiesOf(row) }]),
    );
  };
}

const isRefused = ({ state, send }: Row): boolean => state === "dead" && send === null;

/** One call is settled at a time. */
const isSameAnswer = (row: Row, other: Row): boolean =>
  row.settledAt === other.settledAt && row.message === other.message;
