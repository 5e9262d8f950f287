import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import Database from "better-sqlite3";
import { createBodyTemplate, createdAtOf, EVENT_TYPE, HANDLER_NAME } from "../sample-delivery.js";
import { printProgress } from "../table.js";

const ROWS_PER_TRANSACTION = 20_000;

/**
 * Makes a database of ours with `rows` events and one handler's work on each, done or pending, through plain SQL: the
 * writer thread would take minutes. Ids are random, as those of the load are.
 */
export async function fillDatabase(fill: {
  file: string;
  rows: number;
  work: "done" | "pending";
  /** 0 stores an empty object. */
  bodyBytes: number;
}): Promise<void> {
  const store = createSqliteStore({ file: fill.file });
  await store.open({ logger: silentLogger });
  await store.close();
  printProgress(`storing ${fill.rows} ${fill.work} events`);

  const db = new Database(fill.file);
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -1000000");
  const insertEvent = db.prepare(`
    INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (:seq, :id, :type, 0, :now, :now, :bodyLength, :bodyCrc)`);
  const insertBody = db.prepare("INSERT INTO inbox_body (seq, body) VALUES (:seq, :body)");
  const insertWork = db.prepare(
    fill.work === "done"
      ? "INSERT INTO inbox_done (seq, handler, settled_at, attempts, discarded) VALUES (:seq, :handler, :now, 1, 0)"
      : `INSERT INTO inbox_work (seq, handler, state, due_at, started, finished)
         VALUES (:seq, :handler, 'pending', :now, 0, 0)`,
  );
  const template = fill.bodyBytes > 0 ? createBodyTemplate(fill.bodyBytes) : undefined;
  const body = template?.body ?? Buffer.from("{}");
  const now = Date.now();
  const insertRows = db.transaction((first: number, last: number) => {
    for (let seq = first; seq <= last; seq += 1) {
      const id = randomUUID();
      if (template !== undefined) {
        body.write(id, template.idOffset, "latin1");
        body.write(createdAtOf(now, seq), template.timeOffset, "latin1");
      }
      insertEvent.run({ seq, id, type: EVENT_TYPE, now, bodyLength: body.length, bodyCrc: crc32(body) });
      insertBody.run({ seq, body });
      insertWork.run({ seq, handler: HANDLER_NAME, now });
    }
  });
  for (let first = 1; first <= fill.rows; first += ROWS_PER_TRANSACTION) {
    insertRows(first, Math.min(fill.rows, first + ROWS_PER_TRANSACTION - 1));
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
