import type { Database } from "better-sqlite3";

/** Marks a transaction as ours, so that the user's SQL can neither commit it nor replace it unseen. */
export interface TurnMarker {
  /** First in the transaction. */
  begin(): void;
  /** False once the transaction of `begin` is over, also when another one was begun after it. */
  isOpen(): boolean;
  /** Last in the transaction, which may be committed then. */
  end(): void;
}

/**
 * The mark is a row that breaks a foreign key which SQLite checks at COMMIT. A COMMIT before its time therefore fails and leaves the
 * transaction open, and with a ROLLBACK the row is gone. Both tables are temporary: they are in memory and of this connection alone.
 */
export function prepareTurnMarker(db: Database): TurnMarker {
  db.pragma("foreign_keys = ON");
  db.exec(`
    CREATE TEMP TABLE pigeonhole_never (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE pigeonhole_turn (id INTEGER REFERENCES pigeonhole_never (id) DEFERRABLE INITIALLY DEFERRED)`);
  const mark = db.prepare("INSERT INTO temp.pigeonhole_turn (id) VALUES (1)");
  const find = db.prepare("SELECT 1 FROM temp.pigeonhole_turn");
  const remove = db.prepare("DELETE FROM temp.pigeonhole_turn");
  return {
    begin: () => void mark.run(),
    isOpen: () => db.inTransaction && find.get() !== undefined,
    end: () => void remove.run(),
  };
}
