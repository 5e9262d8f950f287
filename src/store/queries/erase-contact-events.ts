import type { MentionsEmail } from "../../base/mentions-email.js";
import { ERASED_ROWS, type EraseCounts, type EraseRange, type EraseTask, type ErasedRows } from "../erase.js";
import { eraseContactEvent } from "../erased-contact-event.js";
import { discardContactEvent } from "./contact-event-changes.js";
import { SERVER_COLUMNS } from "./server-columns.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

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
export function* eraseContactEvents(range: EraseRange, task: EraseTask): StoreQuery<ErasedRows> {
  const rows = yield* readRows<Row>(
    `${SELECT} WHERE e.seq > :afterSeq AND e.seq <= :throughSeq ORDER BY e.seq LIMIT ${ERASED_ROWS} FOR UPDATE OF e`,
    range,
  );
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq } of rows.filter((row) => isMentionedIn(row, task.mentions))) {
    // An earlier row of the page may have ended its call.
    const row = yield* readFirst<Row>(`${SELECT} WHERE e.seq = :seq`, { seq });
    if (row !== undefined) counts.push(yield* eraseRow(row, task));
  }
  return { counts, lastSeq: rows.at(-1)?.seq };
}

function* eraseRow(row: Row, { mentions, now, dryRun }: EraseTask): StoreQuery<Partial<EraseCounts>> {
  const { isLeft, ending } = yield* findGroup(row, mentions);
  if (!dryRun) for (const { seq, send } of ending) yield* discardContactEvent({ seq, send, now });
  if (isLeft) return { contactEventsLeft: 1 };
  const isSent = row.state === "done" && row.message !== "discarded";
  if (!dryRun) {
    yield* run(
      `UPDATE pigeonhole.outbox_event SET ${SERVER_COLUMNS.name}body = :body, param = NULL, message = :message
       WHERE seq = :seq`,
      { seq: row.seq, ...eraseContactEvent(row.body, mentions), message: isSent ? null : "discarded" },
    );
  }
  return { contactEvents: 1 };
}

/** The event and those that end with it: a call that was given up is over once nothing of it can be sent again. */
function* findGroup(row: Row, mentions: MentionsEmail): StoreQuery<{ isLeft: boolean; ending: readonly Row[] }> {
  const own = row.state === "done" || row.state === "leased" ? [] : [row];
  if (row.send === null) return { isLeft: false, ending: own };
  if (row.callState !== "dead") return { isLeft: true, ending: [] };
  const dead = yield* readRows<Row>(`${SELECT} WHERE e.send = :send AND e.state = 'dead'`, { send: row.send });
  const isLeft = !dead.every((member) => isMentionedIn(member, mentions));
  return { isLeft, ending: isLeft ? own : dead };
}
