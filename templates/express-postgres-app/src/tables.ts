import type { Pool } from "pg";
import type { PostgresTransaction } from "pigeonhole/postgres";

// Your own tables, in the database of the inbox. That one's tables are in the schema `pigeonhole`.

/** Numbered; append to it, and never change what has been deployed. */
const MIGRATIONS = [
  `CREATE TABLE mail_event (
    event_id   text        PRIMARY KEY,
    type       text        NOT NULL,
    created_at timestamptz NOT NULL,
    about      text
  )`,
];

export interface MailEvent {
  id: string;
  type: string;
  createdAt: Date;
  /** The id that its data names. */
  about: string | null;
}

/**
 * The store's `setup`: runs in one transaction each time the store is opened, before any handler. Of several processes,
 * one does it and the others wait.
 */
export async function migrateTables({ client }: PostgresTransaction): Promise<void> {
  await client.query("CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY)");
  const { rows } = await client.query<{ done: number }>("SELECT count(*)::integer AS done FROM migration");
  const done = rows[0]?.done ?? 0;
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < done) continue;
    await client.query(sql);
    await client.query("INSERT INTO migration (number) VALUES ($1)", [index + 1]);
  }
}

/** Writes one event, inside the transaction of `ctx.commit`. */
export async function insertMailEvent(
  { client }: PostgresTransaction,
  { id, type, createdAt, about }: Omit<MailEvent, "createdAt"> & { createdAt: string },
): Promise<void> {
  await client.query("INSERT INTO mail_event (event_id, type, created_at, about) VALUES ($1, $2, $3, $4)", [
    id,
    type,
    createdAt,
    about,
  ]);
}

/** The newest first. */
export async function listMailEvents(pool: Pool, limit: number): Promise<MailEvent[]> {
  const { rows } = await pool.query<MailEvent>(
    'SELECT event_id AS id, type, created_at AS "createdAt", about FROM mail_event ORDER BY created_at DESC LIMIT $1',
    [limit],
  );
  return rows;
}
