import type { Database } from "better-sqlite3";
import type { Lease, RunError, Settlement } from "../../work.js";
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
    INSERT OR REPLACE INTO inbox_failed (seq, handler, attempt, stack, failed_at)
    SELECT seq, handler, started, :stack, :at FROM inbox_work WHERE seq = :seq AND handler = :handler`);

  return ({ seq, handler, stack, at }: Pick<Lease, "seq" | "handler"> & Pick<Settlement, "at"> & RunError): void => {
    if (stack === undefined) return;
    // An erasure later does not find what is in no table any more.
    overwriting(db, () => dropOthers().run({ seq, handler }));
    insert().run({ seq, handler, stack, at });
  };
}

/** Drops the kept errors of an event. */
export function prepareDropFailedRuns(db: Database) {
  const drop = db.prepare("DELETE FROM inbox_failed WHERE seq = :seq");
  return (seq: number): void => void drop.run({ seq });
}
