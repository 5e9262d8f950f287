import type { MentionsEmail } from "../../../base/mentions-email.js";
import type { EraseCounts } from "../../erase.js";
import { eraseContactEvent } from "../../erased-contact-event.js";
import type { Sql } from "../sql.js";
import { nameOfContactEvent } from "./contact-event-name.js";
import { discardContactEvent } from "../../queries/contact-events.js";
import { runOnServer } from "../run-on-server.js";
import { ERASED_ROWS, type EraseRange, type ErasedRows, type ErasureTask } from "./erase-events.js";

interface Row {
  seq: number;
  body: string;
  state: "pending" | "leased" | "done" | "dead";
  send: number | null;
  /** What the service said about it, and about its call. */
  param: string | null;
  message: string | null;
  callError: string | null;
  callState: "pending" | "leased" | "dead" | null;
}

const SELECT = `
  SELECT e.seq, e.body, e.state, e.send, e.param, e.message, s.error AS "callError", s.state AS "callState"
  FROM pigeonhole.outbox_event AS e LEFT JOIN pigeonhole.outbox_send AS s ON s.send = e.send`;

const isMentionedIn = ({ body, param, message, callError }: Row, mentions: MentionsEmail): boolean =>
  [body, param, message, callError].some((text) => text !== null && mentions(text));

/** A contact event keeps its key and its name. Members of a call keep all, since it is only repeated as it was. */
export async function eraseContactEvents(sql: Sql, range: EraseRange, task: ErasureTask): Promise<ErasedRows> {
  const rows = await sql.rows<Row>(
    `${SELECT} WHERE e.seq > :afterSeq AND e.seq <= :throughSeq ORDER BY e.seq LIMIT ${ERASED_ROWS} FOR UPDATE OF e`,
    range,
  );
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq } of rows.filter((row) => isMentionedIn(row, task.mentions))) {
    // An earlier row of the page may have ended its call.
    const row = await sql.row<Row>(`${SELECT} WHERE e.seq = :seq`, { seq });
    if (row !== undefined) counts.push(await eraseRow(sql, row, task));
  }
  return { counts, lastSeq: rows.at(-1)?.seq };
}

async function eraseRow(sql: Sql, row: Row, { mentions, now, dryRun }: ErasureTask): Promise<Partial<EraseCounts>> {
  const { isLeft, ending } = await findGroup(sql, row, mentions);
  if (!dryRun) for (const { seq, send } of ending) await runOnServer(sql, discardContactEvent({ seq, send, now }));
  if (isLeft) return { contactEventsLeft: 1 };
  const isSent = row.state === "done" && row.message !== "discarded";
  const body = eraseContactEvent(row.body, mentions);
  const erased = { seq: row.seq, body, message: isSent ? null : "discarded" };
  if (!dryRun) {
    await sql.run(
      "UPDATE pigeonhole.outbox_event SET name = :name, body = :body, param = NULL, message = :message WHERE seq = :seq",
      { ...erased, name: nameOfContactEvent(erased) },
    );
  }
  return { contactEvents: 1 };
}

/** The event and those that end with it: a call that was given up is over once nothing of it can be sent again. */
async function findGroup(
  sql: Sql,
  row: Row,
  mentions: MentionsEmail,
): Promise<{ isLeft: boolean; ending: readonly Row[] }> {
  const own = row.state === "done" || row.state === "leased" ? [] : [row];
  if (row.send === null) return { isLeft: false, ending: own };
  if (row.callState !== "dead") return { isLeft: true, ending: [] };
  const dead = await sql.rows<Row>(`${SELECT} WHERE e.send = :send AND e.state = 'dead'`, { send: row.send });
  const isLeft = !dead.every((member) => isMentionedIn(member, mentions));
  return { isLeft, ending: isLeft ? own : dead };
}
