import { createMentionsEmail } from "../../../base/mentions-email.js";
import {
  type EraseCursor,
  type ErasePage,
  type EraseRequest,
  NOTHING_ERASED,
  addCounts,
  listAfter,
} from "../../erase.js";
import type { Sql } from "../sql.js";
import { eraseContactEvents } from "./erase-contact-events.js";
import { eraseEvents } from "./erase-events.js";
import { eraseJobs } from "./erase-jobs.js";

const LISTS = {
  events: { erase: eraseEvents, last: "max(seq) FROM pigeonhole.inbox_event" },
  contactEvents: { erase: eraseContactEvents, last: "max(seq) FROM pigeonhole.outbox_event" },
  jobs: { erase: eraseJobs, last: "max(job) FROM pigeonhole.inbox_job" },
} as const;

/** Erases what mentions an address, a page at a time: of the events, the contact events and the jobs. */
export async function erasePage(sql: Sql, { email, now, dryRun, cursor }: EraseRequest): Promise<ErasePage> {
  const task = { mentions: createMentionsEmail(email), now, dryRun };
  const { list, afterSeq, throughSeq } = cursor ?? (await beginList(sql, "events"));
  const found = await LISTS[list].erase(sql, { afterSeq, throughSeq }, task);
  const counts = found.counts.reduce(addCounts, NOTHING_ERASED);
  if (found.lastSeq !== undefined && found.lastSeq < throughSeq) {
    return { ...counts, next: { list, afterSeq: found.lastSeq, throughSeq } };
  }
  const next = listAfter(list);
  return { ...counts, next: next && (await beginList(sql, next)) };
}

async function beginList(sql: Sql, list: EraseCursor["list"]): Promise<EraseCursor> {
  const row = await sql.row<{ last: number | null }>(`SELECT (SELECT ${LISTS[list].last}) AS last`);
  return { list, afterSeq: 0, throughSeq: row?.last ?? 0 };
}
