import type { Database } from "better-sqlite3";
import { CLEAR_FAILURE, type OtherEnd, columnsAfter } from "../../queries/ending-work.js";
import { insertContactEvent } from "../../queries/contact-event-changes.js";
import { run } from "../../queries/store-query.js";
import type { SettleResult } from "../../store.js";
import type { Settlement } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { runInFile, overwriting } from "../run-in-file.js";

const OF_LEASE = "seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token";
const END_RUN = "lease = NULL, lease_until = NULL, finished = finished + 1";

const SET_OTHER = `
  UPDATE inbox_work
  SET state = :state, due_at = :due_at, waits_since = :waits_since, settled_at = :settled_at, reason = :reason,
    error = :error, waits = waits + (:holds IS NOT NULL), wait_began = coalesce(:began, wait_began), wait_holds = :holds,
    error_group = coalesce(:error_group, error_group), failed_at = coalesce(:failed_at, failed_at),
    error_type = CASE WHEN :failed_at IS NULL THEN error_type
      ELSE (SELECT type FROM inbox_event AS e WHERE e.seq = inbox_work.seq) END, ${END_RUN}
  WHERE ${OF_LEASE}`;

/**
 * Ends a lease. Every statement carries the token: a lease that was lost writes nothing. The statement that every event
 * needs is bound by position, as in `accept`.
 */
export function prepareSettle(db: Database) {
  const setDone = prepareLater(db)<[number, number, string, number]>(`
    UPDATE inbox_work SET state = 'done', settled_at = ?, error = NULL, ${CLEAR_FAILURE}, ${END_RUN}
    WHERE seq = ? AND handler = ? AND state = 'leased' AND lease = ?`);

  return (settlement: Settlement): SettleResult => {
    const { seq, handler, token, at } = settlement;
    const isHeld =
      settlement.to === "done"
        ? setDone().run(at, seq, handler, token).changes === 1
        : runInFile(db, run(SET_OTHER, columnsAfter(settlement))) === 1;
    if (!isHeld) return "lost";
    if (settlement.dropSteps) overwriting(db, () => runInFile(db, run(DROP_STEPS, settlement)));
    if (settlement.to !== "done") keepRun(db, settlement);
    // They come with the end of the work, which is done once.
    else
      for (const event of settlement.records ?? [])
        runInFile(db, insertContactEvent(event, { now: at, inboxSeq: seq }));
    return "settled";
  };
}

/** Adds to the number of runs done. Call it once per transaction, for all settlements in it. */
export function prepareAddDone(db: Database) {
  const add = db.prepare("UPDATE inbox_counter SET value = value + :done WHERE name = 'done'");
  return (done: number): void => {
    if (done > 0) add.run({ done });
  };
}

/**
 * Drops the values of the steps of a handler that is done; names and times stay for people. An erasure later does not
 * find what is in no table any more.
 */
const DROP_STEPS = "UPDATE inbox_step SET value = '' WHERE seq = :seq AND handler = :handler";

/** Of the runs before one that has just been settled, only the first since a retry keeps its error. */
const DROP_RUNS = `
  DELETE FROM inbox_failed
  WHERE seq = :seq AND handler = :handler
    AND (attempt > (SELECT min(attempt) FROM inbox_failed WHERE seq = :seq AND handler = :handler)
      OR (SELECT finished FROM inbox_work WHERE seq = :seq AND handler = :handler) = 1)`;

const KEEP_RUN = `
  INSERT OR REPLACE INTO inbox_failed (seq, handler, attempt, stack, failed_at)
  SELECT seq, handler, started, :stack, :at FROM inbox_work WHERE seq = :seq AND handler = :handler`;

/** Keeps the error of a run that was just settled in full. */
function keepRun(db: Database, settlement: OtherEnd): void {
  if (settlement.stack === undefined) return;
  // An erasure later does not find what is in no table any more.
  overwriting(db, () => runInFile(db, run(DROP_RUNS, settlement)));
  runInFile(db, run(KEEP_RUN, settlement));
}
