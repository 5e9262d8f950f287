import type { Database } from "better-sqlite3";
import { failureGroupOf } from "../../error-kind.js";
import { CLEAR_FAILURE } from "../../queries/ending-work.js";
import { insertContactEvent } from "../../queries/record-contact-event.js";
import type { SettleResult } from "../../store.js";
import type { Lease, RunError, Settlement } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { overwriting } from "../overwriting.js";
import { runInFile } from "../run-in-file.js";

const OF_LEASE = "seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token";
const END_RUN = "lease = NULL, lease_until = NULL, finished = finished + 1";

/**
 * Ends a lease. Every statement carries the token: a lease that was lost writes nothing. The statement that every event
 * needs is bound by position, as in `accept`.
 */
export function prepareSettle(db: Database) {
  const later = prepareLater(db);
  const setDone = later<[number, number, string, number]>(`
    UPDATE inbox_work SET state = 'done', settled_at = ?, error = NULL, ${CLEAR_FAILURE}, ${END_RUN}
    WHERE seq = ? AND handler = ? AND state = 'leased' AND lease = ?`);
  const setPending = later(`
    UPDATE inbox_work SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error,
      waits = waits + (:holds IS NOT NULL), wait_began = coalesce(:began, wait_began), wait_holds = :holds, ${END_RUN}
    WHERE ${OF_LEASE}`);
  const setStuck = later(`
    UPDATE inbox_work SET state = :to, settled_at = :at, reason = :reason, error = :error, ${END_RUN}
    WHERE ${OF_LEASE}`);
  const noteFailure = prepareNoteFailure(db);
  const dropSteps = prepareDropSteps(db);

  function move(settlement: Settlement): boolean {
    switch (settlement.to) {
      case "done": {
        const { seq, handler, token, at } = settlement;
        return setDone().run(at, seq, handler, token).changes === 1;
      }
      case "pending":
        return setPending().run({ ...settlement, ...waitColumns(settlement) }).changes === 1;
      case "dead":
      case "parked":
        return setStuck().run(settlement).changes === 1;
    }
  }

  return (settlement: Settlement): SettleResult => {
    if (!move(settlement)) return "lost";
    if (settlement.dropSteps) dropSteps(settlement);
    if (settlement.to !== "done") {
      noteFailure(settlement);
      return "settled";
    }
    // They come with the end of the work, which is done once.
    const { seq, at, records = [] } = settlement;
    for (const event of records) runInFile(db, insertContactEvent(event, { now: at, inboxSeq: seq }));
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

/** The columns of a wait; null after any other run. */
export function waitColumns({ wait }: Extract<Settlement, { to: "pending" }>) {
  return { holds: wait?.holds ?? null, began: wait?.began ?? null };
}

/**
 * Drops the values of the steps of a handler that is done; names and times stay for people. An erasure later does not
 * find what is in no table any more.
 */
function prepareDropSteps(db: Database) {
  const drop = prepareLater(db)("UPDATE inbox_step SET value = '' WHERE seq = :seq AND handler = :handler");
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): void =>
    void overwriting(db, () => drop().run({ seq, handler }));
}

/** Keeps the error of a run that has just been settled, and of the runs before it only the first since a retry. */
function prepareKeepFailedRun(db: Database) {
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

/** Sets what puts a row of `inbox_work` into a group of errors; takes `:errorGroup` and `:at`. */
export const SET_FAILURE = `
  error_type = (SELECT type FROM inbox_event AS e WHERE e.seq = inbox_work.seq), error_group = :errorGroup,
  failed_at = :at`;

/** Keeps the error of work that was just settled in full, and notes what it has in common with others. */
function prepareNoteFailure(db: Database): (settlement: Exclude<Settlement, { to: "done" }>) => void {
  const keepFailedRun = prepareKeepFailedRun(db);
  const note = prepareLater(db)(
    `UPDATE inbox_work SET ${SET_FAILURE} WHERE seq = :seq AND handler = :handler AND state = :to`,
  );
  return (settlement) => {
    keepFailedRun(settlement);
    const errorGroup = failureGroupOf(settlement);
    if (errorGroup === undefined) return;
    const { seq, handler, to, at } = settlement;
    note().run({ seq, handler, to, at, errorGroup });
  };
}
