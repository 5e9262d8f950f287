import Database from "better-sqlite3";

/** A row of `inbox_work`: what is not done. */
export interface WorkRow {
  id: string;
  handler: string;
  state: string;
  reason: string | null;
  started: number;
  finished: number;
}

/** A row of the user's own table. */
export interface EffectRow {
  id: string;
  handler: string;
  attempt: number;
  pid: number;
}

export interface DoneRow {
  id: string;
  handler: string;
  attempts: number;
  /** Attempts whose process did not die. */
  finished: number;
}

/** What stands in the file, read past the package, through a connection that cannot write. */
export interface InboxFile {
  events: { id: string; receivedAt: number }[];
  work: WorkRow[];
  done: DoneRow[];
  effects: EffectRow[];
  integrity: string;
}

/** Reads everything; the file may be in use. */
export function readInboxFile(file: string): InboxFile {
  return withDatabase(file, (db) => ({
    events: db
      .prepare<[], { id: string; receivedAt: number }>("SELECT id, received_at AS receivedAt FROM inbox_event")
      .all(),
    work: readWork(db),
    done: db
      .prepare<[], DoneRow>(
        `SELECT e.id, w.handler, w.started AS attempts, w.finished FROM inbox_work AS w JOIN inbox_event AS e ON e.seq = w.seq
         WHERE w.state = 'done' AND discarded = 0`,
      )
      .all(),
    effects: db.prepare<[], EffectRow>("SELECT event_id AS id, handler, attempt, pid FROM effect").all(),
    integrity: String(db.pragma("integrity_check", { simple: true })),
  }));
}

/** Reads only what is not done. */
export function readUndone(file: string): WorkRow[] {
  return withDatabase(file, readWork);
}

/** What a query of the test's own finds in the file. */
export function readRows<Row>(file: string, sql: string): Row[] {
  return withDatabase(file, (db) => db.prepare<[], Row>(sql).all());
}

function readWork(db: Database.Database): WorkRow[] {
  return db
    .prepare<[], WorkRow>(
      `SELECT e.id, w.handler, w.state, w.reason, w.started, w.finished
       FROM inbox_work AS w JOIN inbox_event AS e ON e.seq = w.seq WHERE w.state <> 'done' ORDER BY w.seq, w.handler`,
    )
    .all();
}

function withDatabase<T>(file: string, read: (db: Database.Database) => T): T {
  const db = new Database(file, { readonly: true, timeout: 5_000 });
  try {
    return db.transaction(read)(db);
  } finally {
    db.close();
  }
}

/** How often each value occurs. */
export function countBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1);
  return counts;
}
