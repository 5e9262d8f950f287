import type { Database } from "better-sqlite3";
import type { FailedRun, FailedRuns } from "../../inbox-view.js";
import type { Lease, RunError } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { overwriting } from "../overwriting.js";

/** Keeps the error of a run that has just been settled, and of the runs before it only the first since a retry. */
export function prepareKeepFailedRun(db: Database) {
  const later = prepareLater(db);
  const dropOthers = later(`
    DELETE FROM inbox_failed
    WHERE seq = :seq AND handler = :handler
      AND (attempt > (SELECT min(attempt) FROM inbox_failed WHERE seq = :seq AND handler = :handler)
        OR (SELECT finished FROM inbox_work WHERE seq = :seq AND handler = :handler) = 1)`);
  const insert = later(`
    INSERT OR REPLACE INTO inbox_failed (seq, handler, attempt, stack)
    SELECT seq, handler, started, :stack FROM inbox_work WHERE seq = :seq AND handler = :handler`);

  return ({ seq, handler, stack }: Pick<Lease, "seq" | "handler"> & RunError): void => {
    if (stack === undefined) return;
    // An erasure later does not find what is in no table any more.
    overwriting(db, () => dropOthers().run({ seq, handler }));
    insert().run({ seq, handler, stack });
  };
}

/** Reads the kept errors of an event: those of a handler's runs up to the number `attempts`. */
export function prepareReadFailedRuns(db: Database) {
  const select = db.prepare<{ seq: number; handler: string; attempts: number }, FailedRun>(`
    SELECT attempt, stack FROM inbox_failed WHERE seq = :seq AND handler = :handler AND attempt <= :attempts
    ORDER BY attempt`);
  return (work: { seq: number; handler: string; attempts: number }): FailedRuns | undefined => {
    const [first, last = first] = select.all(work);
    return first === undefined || last === undefined ? undefined : { first, last };
  };
}

/** Drops the kept errors of an event. */
export function prepareDropFailedRuns(db: Database) {
  const drop = db.prepare("DELETE FROM inbox_failed WHERE seq = :seq");
  return (seq: number): void => void drop.run({ seq });
}
