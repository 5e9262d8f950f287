import type { Database } from "better-sqlite3";
import type { SettleResult } from "../../store.js";
import type { Settlement } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { prepareRecordOfHandler } from "./outbox-record.js";
import { CLEAR_FAILURE } from "../../queries/failure.js";
import { prepareDropSteps } from "./drop-steps.js";
import { prepareNoteFailure } from "./note-failure.js";

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
    UPDATE inbox_work SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error, ${END_RUN}
    WHERE ${OF_LEASE}`);
  const setStuck = later(`
    UPDATE inbox_work SET state = :to, settled_at = :at, reason = :reason, error = :error, ${END_RUN}
    WHERE ${OF_LEASE}`);
  const noteFailure = prepareNoteFailure(db);
  const dropSteps = prepareDropSteps(db);
  const record = prepareRecordOfHandler(db);

  function move(settlement: Settlement): boolean {
    switch (settlement.to) {
      case "done": {
        const { seq, handler, token, at } = settlement;
        return setDone().run(at, seq, handler, token).changes === 1;
      }
      case "pending":
        return setPending().run(settlement).changes === 1;
      case "dead":
      case "parked":
        return setStuck().run(settlement).changes === 1;
    }
  }

  return (settlement: Settlement): SettleResult => {
    if (!move(settlement)) return "lost";
    if (settlement.dropSteps) dropSteps(settlement);
    if (settlement.to === "done") record(settlement);
    else noteFailure(settlement);
    return "settled";
  };
}
