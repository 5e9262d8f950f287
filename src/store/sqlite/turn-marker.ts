import type { Database } from "better-sqlite3";

/** Marks a transaction as the store's, so that the user's SQL can neither commit nor replace it unnoticed. */
export interface TurnMarker {
  /** Call it first in the transaction. */
  begin(): void;
  /** False once the transaction of `begin` is over, also when another one was begun after it. */
  isOpen(): boolean;
  /** Call it last in the transaction, which may be committed after it. */
  end(): void;
}

/**
 * The mark is a row that breaks a foreign key which SQLite checks at COMMIT. An early COMMIT therefore fails and leaves
 * the transaction open, and after a ROLLBACK the row is gone. Both tables are temporary: they are in memory and belong
 * to this connection alone.
 */
export function prepareTurnMarker(db: Database): TurnMarker {
  db.pragma("foreign_keys = ON");
  db.exec(`
    CREATE TEMP TABLE IF NOT EXISTS pigeonhole_never (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE IF NOT EXISTS pigeonhole_turn (id INTEGER REFERENCES pigeonhole_never (id) DEFERRABLE INITIALLY DEFERRED)`);
  const mark = db.prepare("INSERT INTO temp.pigeonhole_turn (id) VALUES (1)");
  const find = db.prepare("SELECT 1 FROM temp.pigeonhole_turn");
  const remove = db.prepare("DELETE FROM temp.pigeonhole_turn");
  return {
    begin: () => void mark.run(),
    isOpen: () => db.inTransaction && find.get() !== undefined,
    end: () => void remove.run(),
  };
}
