import type { Database } from "better-sqlite3";
import { lazy } from "../on-first-use.js";

/** Bodies that came under one id: the first, and those kept beside it while nothing of the id was handled. */
export function prepareOtherBytes(db: Database) {
  const selectFirst = db
    .prepare<{ seq: number }, number>(`
    SELECT first FROM inbox_other WHERE seq = :seq OR first = :seq
    UNION ALL SELECT first FROM inbox_holder WHERE first = :seq LIMIT 1`)
    .pluck();
  const selectUnhandled = lazy(() =>
    db.prepare<{ first: number }, 1>(`
    WITH body (seq) AS (SELECT :first UNION ALL SELECT seq FROM inbox_other WHERE first = :first)
    SELECT 1 WHERE EXISTS (SELECT 1 FROM inbox_work WHERE seq IN body)
      AND NOT EXISTS (SELECT 1 FROM inbox_work WHERE seq IN body AND (state <> 'parked' OR reason = 'crash_loop'))`),
  );
  const insertOther = db.prepare("INSERT INTO inbox_other (seq, first) VALUES (:seq, :first)");
  const setHolder = db.prepare(`
    INSERT INTO inbox_holder (first, handler, seq) VALUES (:first, :handler, :seq)
    ON CONFLICT (first, handler) DO UPDATE SET seq = excluded.seq`);
  // A holder that retention has dropped was settled.
  const selectAnother = db.prepare<{ first: number; handler: string; seq: number }, 1>(`
    SELECT 1 FROM inbox_holder AS h WHERE h.first = :first AND h.handler = :handler AND h.seq <> :seq
      AND (h.seq = 0 OR EXISTS (
        SELECT 1 FROM inbox_work AS w
        WHERE w.seq = h.seq AND w.handler = :handler AND w.state IN ('pending', 'leased', 'done') AND w.discarded = 0))`);

  /** True when another body of the id is handled by this handler, or was. */
  const has = (of: { first: number; handler: string; seq: number }): boolean => selectAnother.get(of) !== undefined;

  return {
    has,
    /** The number of the first body under the event's id; undefined when it always was the only one. */
    firstOf: (seq: number): number | undefined => selectFirst.get({ seq }),
    /** True while all bodies of the id are parked, and no handler has run on one of them. */
    isUnhandled: (first: number): boolean => selectUnhandled().get({ first }) !== undefined,
    /** Notes that an event is another body of an id, which these handlers now have. */
    add(seq: number, first: number, handlers: readonly string[]): void {
      insertOther.run({ seq, first });
      for (const handler of handlers) setHolder.run({ first, handler, seq });
    },
    /** Gives this body to the handler, unless that has another one of the id. */
    take(of: { first: number; handler: string; seq: number }): boolean {
      if (has(of)) return false;
      setHolder.run(of);
      return true;
    },
  };
}
