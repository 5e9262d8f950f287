import Database from "better-sqlite3";
import type { Pool } from "pg";
import { exampleContactEvents, exampleEvents } from "./example-events.js";

type Row = Record<string, string | number | Buffer | null>;

/** Inserts rows by the names of their columns, which all of them have; the others get their defaults. */
type Insert = (table: string, rows: readonly Row[]) => unknown;

/** Rows of one transaction. */
const PAGE = 10_000;

/** Writes the example's events past the package, into a file whose tables are there and that nobody has open. */
export async function fillFile(file: string, total: number, now: number): Promise<void> {
  const db = new Database(file);
  db.pragma("synchronous = OFF");
  const insert = (table: string, rows: readonly Row[]): void => {
    const columns = columnsOf(rows);
    const values = columns.map((name) => `:${name}`);
    const statement = db.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values.join()})`);
    db.transaction(() => rows.forEach((row) => statement.run(row)))();
  };
  await fill(insert, total, now);
  db.exec(`UPDATE inbox_counter SET value = ${2 * total} WHERE name = 'done'`);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

/** The same into a schema whose tables are there. */
export async function fillDatabase(pool: Pool, total: number, now: number): Promise<void> {
  const insert = async (name: string, rows: readonly Row[]): Promise<void> => {
    const [table, columns] = [`pigeonhole.${name}`, columnsOf(rows).join()];
    const text = JSON.stringify(rows.map(withHex));
    const values = `SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`;
    await pool.query(`INSERT INTO ${table} (${columns}) ${values}`, [text]);
  };
  await fill(insert, total, now);
  await pool.query(`SELECT setval('pigeonhole.inbox_event_number', ${total})`);
  await pool.query(`INSERT INTO pigeonhole.inbox_done_count (done) VALUES (${2 * total})`);
  // As autovacuum does soon.
  await pool.query("ANALYZE");
}

async function fill(insertAll: Insert, total: number, now: number): Promise<void> {
  const insert: Insert = (table, rows) => (rows.length > 0 ? insertAll(table, rows) : undefined);
  for (const page of pagesOf(exampleEvents(total, now))) {
    const pieces = page.flatMap(({ work, ...event }) => work.map((piece) => ({ ...event, ...piece })));
    const open = pieces.filter(({ state }) => state !== "done");
    const events = page.map(({ seq, id, type, receivedAt }) => {
      const times = { received_at: receivedAt, signed_at: receivedAt };
      return { seq, id, type, test: 0, ...times, body_length: 600, body_crc: 0 };
    });
    const bodies = page.flatMap(({ seq, body }) => (body === undefined ? [] : [{ seq, body: Buffer.from(body) }]));
    const done = pieces.filter(({ state }) => state === "done").map((piece) => countedWork(piece, piece.at));
    const work = open.map((piece) => {
      const { at, dueAt: due_at, reason, error, type: error_type, group: error_group } = piece;
      const counted = countedWork(piece, due_at === null ? at : null);
      const waits_since = due_at === null ? null : at;
      return { ...counted, due_at, waits_since, reason, error, error_type, error_group, failed_at: at };
    });
    const failed = open.map(({ seq, handler, error, receivedAt: failed_at }) => {
      return { seq, handler, attempt: 1, stack: `${error ?? ""}\n    at run (app.js:1:1)`, failed_at };
    });
    await insert("inbox_event", events);
    await insert("inbox_body", bodies);
    await insert("inbox_work", done);
    await insert("inbox_work", work);
    await insert("inbox_failed", failed);
  }
  const refused = { reason: "refused", code: "contact_not_found", param: "email", message: "No contact has it." };
  const taken = { reason: null, code: null, param: null, message: null };
  for (const page of pagesOf(exampleContactEvents(total, now))) {
    const rows = page.map(({ key, body, at, state, inboxSeq: inbox_seq }) => {
      const times = { occurred_at: at, recorded_at: at, settled_at: state === "pending" ? null : at };
      const { name } = JSON.parse(body) as { name: string };
      return { key, name, body, ...times, by_handler: 1, state, inbox_seq, ...(state === "dead" ? refused : taken) };
    });
    await insert("outbox_event", rows);
  }
}

interface Piece {
  seq: number;
  handler: string;
  state: string;
  attempts: number;
}

const countedWork = ({ seq, handler, state, attempts }: Piece, settled_at: number | null) => {
  return { seq, handler, state, started: attempts, finished: attempts, settled_at };
};

const columnsOf = ([first = {}]: readonly Row[]): string[] => Object.keys(first);

/** With bytes as JSON has them for PostgreSQL. */
const withHex = (row: Row): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Buffer ? String.raw`\x${value.toString("hex")}` : value,
    ]),
  );

/** The rows, so many at a time. */
function* pagesOf<Item>(items: Iterable<Item>): Generator<Item[]> {
  let page: Item[] = [];
  for (const item of items) {
    page.push(item);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
