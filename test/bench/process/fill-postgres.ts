import { Client } from "pg";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createPostgresStore } from "pigeonhole/postgres";
import { BODY_BYTES, EVENT_ID_LENGTH, EVENT_TYPE, HANDLER_NAME, createBodyTemplate } from "../sample-delivery.js";

export interface PostgresFill {
  rows: number;
  /** What waits has bodies of the size of the load's. */
  work: "done" | "pending";
}

/** Makes a database beside that of the URL, and returns its URL. */
export async function createDatabase(url: string, name: string): Promise<string> {
  await run(url, (client) => client.query(`CREATE DATABASE ${name}`));
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

const WORK = {
  done: `INSERT INTO pigeonhole.inbox_work (seq, handler, state, settled_at, started, finished)
    SELECT seq, '${HANDLER_NAME}', 'done', received_at, 1, 0 FROM pigeonhole.inbox_event`,
  pending: `INSERT INTO pigeonhole.inbox_work (seq, handler, state, due_at, waits_since, started, finished)
    SELECT seq, '${HANDLER_NAME}', 'pending', received_at, received_at, 0, 0 FROM pigeonhole.inbox_event`,
};

/** Makes the tables of the store with so many events. Ids are random, as those of the load are. */
export async function fillPostgres(url: string, { rows, work }: PostgresFill): Promise<void> {
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
