import type { Pool } from "pg";
import { type ExampleEvent, exampleContactEvents, exampleEvents } from "./example-events.js";
import { pagesOf } from "./fill-file.js";

const PAGE = 10_000;

/** Writes the example's events past the package, into a schema whose tables are there. */
export async function fillDatabase(pool: Pool, total: number, now: number): Promise<void> {
  for (const page of pagesOf(exampleEvents(total, now), PAGE)) {
    const pieces = piecesOf(page);
    const unfinished = pieces.filter(({ state }) => state !== "done");
    const events = page.map(({ seq, id, type, receivedAt }) => {
      return {
        seq,
        id,
        type,
        received_at: receivedAt,
        signed_at: receivedAt,
        test: false,
        body_length: 600,
        body_crc: 0,
      };
    });
    const bodies = page.flatMap(({ seq, body }) =>
      body === undefined ? [] : [{ seq, body: String.raw`\x${Buffer.from(body).toString("hex")}` }],
    );
    const work = pieces.map(({ seq, handler, state, attempts, at, ...piece }) => {
      const counted = { seq, handler, state, started: attempts, finished: state === "done" ? 0 : attempts };
      if (state === "done") return { ...counted, settled_at: at };
      const { dueAt: due_at, reason, error, type: error_type, group: error_group } = piece;
      const since = state === "pending" ? { waits_since: at } : { settled_at: at };
      return { ...counted, due_at, ...since, reason, error, error_type, error_group, failed_at: at };
    });
    const failed = unfinished.map(({ seq, handler, error, receivedAt: failed_at }) => {
      return { seq, handler, attempt: 1, stack: `${error ?? ""}\n    at run (app.js:1:1)`, failed_at };
    });
    await insert(pool, "inbox_event", events);
    await insert(pool, "inbox_body", bodies);
    await insert(
      pool,
      "inbox_work",
      work.filter(({ state }) => state === "done"),
    );
    await insert(
      pool,
      "inbox_work",
      work.filter(({ state }) => state !== "done"),
    );
    await insert(pool, "inbox_failed", failed);
  }
  const refused = { code: "contact_not_found", param: "email", message: "No contact has this address." };
  for (const page of pagesOf(exampleContactEvents(total, now), PAGE)) {
    const rows = page.map(({ key, name, body, at, state, inboxSeq: inbox_seq }) => {
      const settled = state === "pending" ? {} : { settled_at: at };
      const answer = state === "dead" ? { reason: "refused", ...refused } : {};
      return {
        key,
        name,
        body,
        occurred_at: at,
        recorded_at: at,
        by_handler: true,
        state,
        inbox_seq,
        ...settled,
        ...answer,
      };
    });
    await insert(pool, "outbox_event", rows);
  }
  await pool.query(`SELECT setval('pigeonhole.inbox_event_number', ${total})`);
  await pool.query(`INSERT INTO pigeonhole.inbox_done_count (done) VALUES (${2 * total})`);
  // As autovacuum does soon.
  await pool.query("ANALYZE");
}

function piecesOf(page: readonly ExampleEvent[]) {
  return page.flatMap(({ seq, type, receivedAt, work }) => work.map((piece) => ({ seq, type, receivedAt, ...piece })));
}

/** Inserts rows by the names of their columns; those that no row has get their defaults. */
async function insert(pool: Pool, name: string, rows: readonly object[]): Promise<void> {
  const table = `pigeonhole.${name}`;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].join(", ");
  if (columns === "") return;
  await pool.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(rows)],
  );
}
