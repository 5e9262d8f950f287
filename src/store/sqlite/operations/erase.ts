import type { Database } from "better-sqlite3";
import { createMentionsEmail } from "../../../base/mentions-email.js";
import {
  type EraseCursor,
  type ErasePage,
  type EraseRequest,
  NOTHING_ERASED,
  addCounts,
  listAfter,
} from "../../erase.js";
import { overwriting } from "../overwriting.js";
import { type EraseTask, prepareEraseContactEvent } from "./erase-contact-event.js";
import { prepareEraseEvent } from "./erase-event.js";
import { prepareEraseJob } from "./erase-job.js";

/** Deliveries wait for a page, some milliseconds. */
const PAGE_ROWS = 200;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Erases what mentions an address, a page at a time: of the events, the contact events and the jobs. */
export function prepareErase(db: Database) {
  const lists = {
    events: prepareList(db, "inbox_event", "seq"),
    contactEvents: prepareList(db, "outbox_event", "seq"),
    jobs: prepareList(db, "inbox_job", "job"),
  };
  const eraseOne = {
    events: prepareEraseEvent(db),
    contactEvents: prepareEraseContactEvent(db),
    jobs: prepareEraseJob(db),
  };

  function page({ list, afterSeq, throughSeq }: EraseCursor, task: EraseTask): ErasePage {
    let counts = NOTHING_ERASED;
    let bytes = 0;
    for (const seq of lists[list].select.all({ afterSeq, throughSeq })) {
      const { readBytes, ...found } = eraseOne[list](seq, task);
      counts = addCounts(counts, found);
      afterSeq = seq;
      bytes += readBytes;
      if (bytes >= PAGE_BYTES) break;
    }
    if (lists[list].hasMore.get({ afterSeq, throughSeq }) !== undefined) {
      return { ...counts, next: { list, afterSeq, throughSeq } };
    }
    const next = listAfter(list);
    return { ...counts, next: next && begin(next) };
  }

  function begin(list: EraseCursor["list"]): EraseCursor {
    return { list, afterSeq: 0, throughSeq: lists[list].last.get() ?? 0 };
  }

  return ({ email, now, dryRun, cursor = begin("events") }: EraseRequest): ErasePage => {
    const task = { mentions: createMentionsEmail(email), now, dryRun };
    return overwriting(db, () => page(cursor, task));
  };
}

function prepareList(db: Database, table: "inbox_event" | "outbox_event" | "inbox_job", key: "seq" | "job") {
  const range = `${key} > :afterSeq AND ${key} <= :throughSeq`;
  return {
    last: db.prepare<[], number | null>(`SELECT max(${key}) FROM ${table}`).pluck(),
    select: db
      .prepare<object, number>(`SELECT ${key} FROM ${table} WHERE ${range} ORDER BY ${key} LIMIT ${PAGE_ROWS}`)
      .pluck(),
    hasMore: db.prepare<object, 1>(`SELECT 1 FROM ${table} WHERE ${range} LIMIT 1`),
  };
}
