import { chmodSync } from "node:fs";
import Database from "better-sqlite3";

/** Your own tables, in the file of the inbox. Names that begin with `inbox_` and `outbox_` are taken. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS mail_event (
    event_id   TEXT PRIMARY KEY,
    type       TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

export interface MailEvent {
  id: string;
  type: string;
  createdAt: string;
}

/** A connection of the app's own, for reading. What handlers write goes through `ctx.commit`. */
export interface Tables {
  listMailEvents(limit: number): MailEvent[];
  close(): void;
}

/** Opens the file and makes the tables; do it before the receiver starts, so that a handler finds them. */
export function openTables(file: string): Tables {
  const db = new Database(file, { timeout: 250 });
  // It holds personal data.
  chmodSync(file, 0o600);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(SCHEMA);
  const list = db.prepare<[number], MailEvent>(
    "SELECT event_id AS id, type, created_at AS createdAt FROM mail_event ORDER BY created_at DESC LIMIT ?",
  );
  return {
    listMailEvents: (limit) => list.all(limit),
    close: () => void db.close(),
  };
}

/** Writes one event, inside the transaction of `ctx.commit`. */
export function insertMailEvent(db: Database.Database, { id, type, createdAt }: MailEvent): void {
  db.prepare("INSERT INTO mail_event (event_id, type, created_at) VALUES (?, ?, ?)").run(id, type, createdAt);
}
