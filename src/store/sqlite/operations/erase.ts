import type { Database } from "better-sqlite3";
import { createMentionsEmail } from "../../../base/mentions-email.js";
import { type EraseCursor, type ErasePage, type EraseRequest, NOTHING_ERASED, addCounts } from "../../erase.js";
import { overwriting } from "../overwriting.js";
import { type EraseTask, prepareEraseContactEvent } from "./erase-contact-event.js";
import { prepareEraseEvent } from "./erase-event.js";

/** Deliveries wait for a page, some milliseconds. */
const PAGE_ROWS = 200;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Erases what mentions an address, a page at a time: first of the events, then of the contact events. */
export function prepareErase(db: Database) {
  const lists = {
    events: prepareList(db, "inbox_event"),
    contactEvents: prepareList(db, "outbox_event"),
  };
  const eraseOne = { events: prepareEraseEvent(db), contactEvents: prepareEraseContactEvent(db) };

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
    return { ...counts, next: list === "events" ? begin("contactEvents") : undefined };
  }

  function begin(list: EraseCursor["list"]): EraseCursor {
    return { list, afterSeq: 0, throughSeq: lists[list].last.get() ?? 0 };
  }

  return ({ email, now, dryRun, cursor = begin("events") }: EraseRequest): ErasePage => {
    const task = { mentions: createMentionsEmail(email), now, dryRun };
    return overwriting(db, () => page(cursor, task));
  };
}

function prepareList(db: Database, table: "inbox_event" | "outbox_event") {
  const range = "seq > :afterSeq AND seq <= :throughSeq";
  return {
    last: db.prepare<[], number | null>(`SELECT max(seq) FROM ${table}`).pluck(),
    select: db
      .prepare<object, number>(`SELECT seq FROM ${table} WHERE ${range} ORDER BY seq LIMIT ${PAGE_ROWS}`)
      .pluck(),
    hasMore: db.prepare<object, 1>(`SELECT 1 FROM ${table} WHERE ${range} LIMIT 1`),
  };
}
