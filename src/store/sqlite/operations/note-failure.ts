import type { Database } from "better-sqlite3";
import { errorKeyOf } from "../../error-kind.js";
import type { Settlement } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { prepareKeepFailedRun } from "./failed-runs.js";

/** Sets what puts a row of `inbox_work` into a group of errors; takes `:errorGroup` and `:at`. */
export const SET_FAILURE = `
  error_type = (SELECT type FROM inbox_event AS e WHERE e.seq = inbox_work.seq), error_group = :errorGroup,
  failed_at = :at`;

/** Keeps the error of work that was just settled in full, and notes what it has in common with others. */
export function prepareNoteFailure(db: Database): (settlement: Exclude<Settlement, { to: "done" }>) => void {
  const keepFailedRun = prepareKeepFailedRun(db);
  const note = prepareLater(db)(
    `UPDATE inbox_work SET ${SET_FAILURE} WHERE seq = :seq AND handler = :handler AND state = :to`,
  );
  return (settlement) => {
    keepFailedRun(settlement);
    // A run that the receiver's stop ended has not failed.
    if (settlement.to === "pending" && settlement.stack === undefined) return;
    const { seq, handler, to, at, error } = settlement;
    const reason = to === "pending" ? undefined : settlement.reason;
    note().run({ seq, handler, to, at, errorGroup: errorKeyOf({ isParked: to === "parked", reason, error }) });
  };
}
