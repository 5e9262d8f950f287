import type { CommitTransaction, SqliteStore } from "pigeonhole";

/*
 * Your own tables, in the file of the inbox. Names that begin with `inbox_` and `outbox_` are taken. Nothing else may
 * open the file: a second copy of SQLite in the process would end the inbox's locks.
 */

/** Numbered; append to it, and never change what has been deployed. */
const MIGRATIONS = [
  `CREATE TABLE mail_event (
    event_id   TEXT PRIMARY KEY,
    type       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    about      TEXT
  ) STRICT, WITHOUT ROWID`,
];

export interface MailEvent {
  id: string;
  type: string;
  createdAt: string;
  /** The id that its data names. */
  about: string | null;
}

/** The store's `setup`: runs in one transaction each time the file is opened, before any handler. */
export function migrateTables({ db }: CommitTransaction): void {
  db.exec("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY) STRICT");
  const done = Number(db.prepare("SELECT count(*) FROM migration").pluck().get());
  for (const sql of MIGRATIONS.slice(done)) {
    db.exec(sql);
    db.exec("INSERT INTO migration DEFAULT VALUES");
  }
}

/** Writes one event, inside the transaction of `ctx.commit`. */
export function insertMailEvent({ db }: CommitTransaction, { id, type, createdAt, about }: MailEvent): void {
  db.prepare("INSERT INTO mail_event (event_id, type, created_at, about) VALUES (?, ?, ?, ?)").run(
    id,
    type,
    createdAt,
    about,
  );
}

/** The newest first. */
export function listMailEvents(store: Pick<SqliteStore, "read">, limit: number): MailEvent[] {
  return store.read(({ db }) =>
    db
      .prepare<[number], MailEvent>(
        "SELECT event_id AS id, type, created_at AS createdAt, about FROM mail_event ORDER BY created_at DESC LIMIT ?",
      )
      .all(limit),
  );
}
