import type { Pool } from "pg";
import { type ExampleEvent, exampleContactEvents, exampleEvents } from "./example-events.js";
import { pagesOf } from "./fill-file.js";

const PAGE = 10_000;

/** Columns of a table with their types, in the order of the values. */
interface Rows {
  pool: Pool;
  table: string;
  columns: Record<string, string>;
}

/** Writes the example's events past the package, into a schema whose tables are there. */
export async function fillDatabase(pool: Pool, total: number, now: number): Promise<void> {
  const into = (table: string, columns: Record<string, string>): Rows => ({
    pool,
    table: `pigeonhole.${table}`,
    columns,
  });
  const events = into("inbox_event", {
    seq: "bigint",
    id: "text",
    type: "text",
    received_at: "bigint",
    signed_at: "bigint",
    test: "boolean",
    body_length: "integer",
    body_crc: "bigint",
  });
  const bodies = into("inbox_body", { seq: "bigint", body: "bytea" });
  const done = into("inbox_work", {
    seq: "bigint",
    handler: "text",
    state: "text",
    settled_at: "bigint",
    started: "integer",
    finished: "integer",
  });
  const work = into("inbox_work", {
    seq: "bigint",
    handler: "text",
    state: "text",
    due_at: "bigint",
    waits_since: "bigint",
    settled_at: "bigint",
    started: "integer",
    finished: "integer",
    reason: "text",
    error: "text",
    error_type: "text",
    error_group: "text",
    failed_at: "bigint",
  });
  const failed = into("inbox_failed", {
    seq: "bigint",
    handler: "text",
    attempt: "integer",
    stack: "text",
    failed_at: "bigint",
  });
  const outbox = into("outbox_event", {
    key: "text",
    name: "text",
    body: "text",
    occurred_at: "bigint",
    recorded_at: "bigint",
    by_handler: "boolean",
    state: "text",
    settled_at: "bigint",
    reason: "text",
    code: "text",
    param: "text",
    message: "text",
    inbox_seq: "bigint",
  });
  for (const page of pagesOf(exampleEvents(total, now), PAGE)) {
    const pieces = piecesOf(page);
    const unfinished = pieces.filter(({ state }) => state !== "done");
    await insert(
      events,
      page.map((e) => [e.seq, e.id, e.type, e.receivedAt, e.receivedAt, false, 600, 0]),
    );
    await insert(
      bodies,
      page.flatMap((e) => (e.body === undefined ? [] : [[e.seq, Buffer.from(e.body)]])),
    );
    await insert(
      done,
      pieces.filter(({ state }) => state === "done").map((w) => [w.seq, w.handler, "done", w.at, w.attempts, 0]),
    );
    await insert(
      work,
      unfinished.map((w) => {
        const [since, settled] = w.state === "pending" ? [w.at, null] : [null, w.at];
        return [
          w.seq,
          w.handler,
          w.state,
          w.dueAt,
          since,
          settled,
          w.attempts,
          w.attempts,
          w.reason,
          w.error,
          w.type,
          w.group,
          w.at,
        ];
      }),
    );
    await insert(
      failed,
      unfinished.map((w) => [w.seq, w.handler, 1, `${w.error ?? ""}\n    at run (app.js:1:1)`, w.receivedAt]),
    );
  }
  for (const page of pagesOf(exampleContactEvents(total, now), PAGE)) {
    await insert(
      outbox,
      page.map((c) => {
        const answer =
          c.state === "dead"
            ? ["refused", "contact_not_found", "email", "No contact has this address."]
            : [null, null, null, null];
        return [
          c.key,
          c.name,
          c.body,
          c.at,
          c.at,
          true,
          c.state,
          c.state === "pending" ? null : c.at,
          ...answer,
          c.inboxSeq,
        ];
      }),
    );
  }
  await pool.query(`SELECT setval('pigeonhole.inbox_event_number', ${total})`);
  await pool.query(`INSERT INTO pigeonhole.inbox_done_count (done) VALUES (${2 * total})`);
  // As autovacuum does soon.
  await pool.query("ANALYZE");
}

function piecesOf(page: readonly ExampleEvent[]) {
  return page.flatMap(({ seq, type, receivedAt, work }) => work.map((piece) => ({ seq, type, receivedAt, ...piece })));
}

async function insert({ pool, table, columns }: Rows, rows: readonly unknown[][]): Promise<void> {
  if (rows.length === 0) return;
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  await pool.query(
    `INSERT INTO ${table} (${Object.keys(columns).join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`,
    Object.keys(columns).map((_, index) => rows.map((row) => row[index])),
  );
}
