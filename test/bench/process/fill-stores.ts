import { Client } from "pg";
import { createPostgresStore } from "pigeonhole/postgres";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import { BODY_BYTES, EVENT_ID_LENGTH, EVENT_TYPE, HANDLER_NAME, createBodyTemplate } from "../sample-delivery.js";
import { printProgress } from "../table.js";

// All that the benchmark says to the product's tables without HTTP: a change of the layout shows here alone. Ids are
// random, as those of the load are.

/** Events with one handler's work on each; what waits has bodies of the size of the load's. */
export interface StoreFill {
  rows: number;
  work: "done" | "pending";
}

const WORK = {
  done: `INSERT INTO pigeonhole.inbox_work (seq, handler, state, settled_at, started, finished)
    SELECT seq, '${HANDLER_NAME}', 'done', received_at, 1, 0 FROM pigeonhole.inbox_event`,
  pending: `INSERT INTO pigeonhole.inbox_work (seq, handler, state, due_at, waits_since, started, finished)
    SELECT seq, '${HANDLER_NAME}', 'pending', received_at, received_at, 0, 0 FROM pigeonhole.inbox_event`,
};

/** Makes a file with so many events, without waiting for the disk. */
export function fillSqlite(file: string, { rows, work }: StoreFill): void {
  printProgress(`storing ${rows} ${work} events`);
  const db = openDatabase(file);
  migrate(db, file);
  for (const setting of ["journal_mode = MEMORY", "synchronous = OFF", "cache_size = -2000000"]) db.pragma(setting);
  db.prepare(
    `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < $rows)
     INSERT INTO inbox_event (id, type, test, received_at, signed_at, body_length, body_crc)
     SELECT lower(hex(randomblob($bytes))), $type, 0, $now, $now, $length, 0 FROM series`,
  ).run({ rows, bytes: EVENT_ID_LENGTH / 2, type: EVENT_TYPE, now: Date.now(), length: BODY_BYTES });
  const { body, idOffset } = createBodyTemplate(BODY_BYTES);
  const [before, behind] = [body.subarray(0, idOffset), body.subarray(idOffset + EVENT_ID_LENGTH)].map(String);
  const insertBodies = "INSERT INTO inbox_body (seq, body) SELECT seq, CAST($before || id || $behind AS BLOB)";
  if (work === "pending") db.prepare(`${insertBodies} FROM inbox_event`).run({ before, behind });
  else db.exec("INSERT INTO inbox_body (seq, body) SELECT seq, CAST('{}' AS BLOB) FROM inbox_event");
  db.exec(WORK[work].replaceAll("pigeonhole.", ""));
  db.pragma("journal_mode = WAL");
  db.close();
}

/** Makes a database beside that of the URL, and returns its URL. */
export async function createDatabase(url: string, name: string): Promise<string> {
  await run(url, (client) => client.query(`CREATE DATABASE ${name}`));
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

/** Makes the tables of the store with so many events. */
export async function fillPostgres(url: string, { rows, work }: StoreFill): Promise<void> {
  printProgress(`storing ${rows} ${work} events`);
  const store = createPostgresStore({ connectionString: url });
  await store.open({ logger: silentLogger });
  await store.close();
  await run(url, async (client) => {
    await client.query(
      `INSERT INTO pigeonhole.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
       SELECT nextval('pigeonhole.inbox_event_number'), gen_random_uuid(), $1, false, $2, $2, $3, 0
       FROM generate_series(1, $4)`,
      [EVENT_TYPE, Date.now(), BODY_BYTES, rows],
    );
    await client.query(WORK[work]);
    if (work === "pending") await fillBodies(client);
    await client.query("VACUUM ANALYZE");
    await client.query("CHECKPOINT");
  });
}

/** Bodies of all events. */
async function fillBodies(client: Client): Promise<void> {
  const { body, idOffset } = createBodyTemplate(BODY_BYTES);
  await client.query(
    `INSERT INTO pigeonhole.inbox_body (seq, body)
     SELECT seq, overlay($1::bytea PLACING convert_to(id, 'UTF8') FROM $2::integer FOR $3::integer)
     FROM pigeonhole.inbox_event`,
    [body, idOffset + 1, EVENT_ID_LENGTH],
  );
}

async function run(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
