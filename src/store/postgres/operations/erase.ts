import { createMentionsEmail } from "../../../base/mentions-email.js";
import { type EraseCursor, type ErasePage, type EraseRequest, NOTHING_ERASED, addCounts } from "../../erase.js";
import type { Sql } from "../sql.js";
import { eraseContactEvents } from "./erase-contact-events.js";
import { eraseEvents } from "./erase-events.js";

const TABLES = { events: "inbox_event", contactEvents: "outbox_event" } as const;
const ERASE = { events: eraseEvents, contactEvents: eraseContactEvents } as const;

/** Erases what mentions an address, a page at a time: first of the events, then of the contact events. */
export async function erasePage(sql: Sql, { email, now, dryRun, cursor }: EraseRequest): Promise<ErasePage> {
  const task = { mentions: createMentionsEmail(email), now, dryRun };
  const { list, afterSeq, throughSeq } = cursor ?? (await beginList(sql, "events"));
  const found = await ERASE[list](sql, { afterSeq, throughSeq }, task);
  const counts = found.counts.reduce(addCounts, NOTHING_ERASED);
  if (found.lastSeq !== undefined && found.lastSeq < throughSeq) {
    return { ...counts, next: { list, afterSeq: found.lastSeq, throughSeq } };
  }
  return { ...counts, next: list === "events" ? await beginList(sql, "contactEvents") : undefined };
}

async function beginList(sql: Sql, list: EraseCursor["list"]): Promise<EraseCursor> {
  const row = await sql.row<{ last: number }>(`SELECT coalesce(max(seq), 0) AS last FROM pigeonhole.${TABLES[list]}`);
  return { list, afterSeq: 0, throughSeq: row?.last ?? 0 };
}
