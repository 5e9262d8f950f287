import type { Database } from "better-sqlite3";
import type { MentionsEmail } from "../../../base/mentions-email.js";
import type { EraseCounts } from "../../erase.js";
import { eraseContactEvent } from "../../erased-contact-event.js";
import { discardContactEvent } from "../../queries/contact-events.js";
import { runInFile } from "../run-in-file.js";

/** What is looked for, and what is done with it. */
export interface EraseTask {
  mentions: MentionsEmail;
  now: number;
  dryRun: boolean;
}

/** What was found in one row, and how much was read for that. */
export type Erased = Partial<EraseCounts> & { readBytes: number };

interface Row {
  seq: number;
  body: string;
  state: "pending" | "again" | "leased" | "done" | "dead";
  send: number | null;
  /** What the service said about it, and about its call. */
  param: string | null;
  message: string | null;
  callError: string | null;
  callState: "pending" | "leased" | "dead" | null;
}

const isMentionedIn = ({ body, param, message, callError }: Row, mentions: MentionsEmail): boolean =>
  [body, param, message, callError].some((text) => text !== null && mentions(text));

/** A contact event keeps its key and its name. Members of a call keep all, since it is only repeated as it was. */
export function prepareEraseContactEvent(db: Database) {
  const rows = `
    SELECT e.seq, e.body, e.state, e.send, e.param, e.message, s.error AS callError, s.state AS callState
    FROM outbox_event AS e LEFT JOIN outbox_send AS s ON s.send = e.send`;
  const select = db.prepare<{ seq: number }, Row>(`${rows} WHERE e.seq = :seq`);
  const selectDead = db.prepare<{ send: number }, Row>(`${rows} WHERE e.send = :send AND e.state = 'dead'`);
  const erase = db.prepare("UPDATE outbox_event SET body = :body, param = NULL, message = :message WHERE seq = :seq");

  /** The event and those that end with it: a call that was given up is over once nothing of it can be sent again. */
  function findGroup(row: Row, mentions: MentionsEmail): { isLeft: boolean; ending: readonly Row[] } {
    const own = row.state === "done" || row.state === "leased" ? [] : [row];
    if (row.send === null) return { isLeft: false, ending: own };
    if (row.callState !== "dead") return { isLeft: true, ending: [] };
    const dead = selectDead.all({ send: row.send });
    const isLeft = !dead.every((member) => isMentionedIn(member, mentions));
    return { isLeft, ending: isLeft ? own : dead };
  }

  return (seq: number, { mentions, now, dryRun }: EraseTask): Erased => {
    const row = select.get({ seq });
    if (row === undefined) return { readBytes: 0 };
    const readBytes = row.body.length;
    if (!isMentionedIn(row, mentions)) return { readBytes };
    const { isLeft, ending } = findGroup(row, mentions);
    if (!dryRun) for (const { seq, send } of ending) runInFile(db, discardContactEvent({ seq, send, now }));
    if (isLeft) return { readBytes, contactEventsLeft: 1 };
    const isSent = row.state === "done" && row.message !== "discarded";
    const body = eraseContactEvent(row.body, mentions);
    if (!dryRun) erase.run({ seq, body, message: isSent ? null : "discarded" });
    return { readBytes, contactEvents: 1 };
  };
}
