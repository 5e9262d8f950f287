import type { Database } from "better-sqlite3";
import type { SettleResult } from "../../store.js";
import type { Lease, Settlement } from "../../work.js";
import { isDirect } from "../lease-token.js";
import { prepareLater } from "../on-first-use.js";
import { prepareRecordOfHandler } from "./outbox-record.js";
import { prepareNoteFailure } from "./note-failure.js";
import { prepareDropSteps } from "./steps.js";

/** The operations on direct pairs that a settlement needs, on the connection that writes it. */
export interface DirectEnds {
  /** Marks a pair in flight as done; false when it has a row or its lease is lost. */
  end(lease: Lease, at: number): boolean;
  /** Gives a pair in flight a row under the same lease. */
  addRow(lease: Lease, leaseUntil: number): void;
}

/**
 * Ends a lease. Every statement carries the token: a lease that was lost writes nothing. The statements that every
 * event needs are bound by position, as in `accept`.
 */
export function prepareSettle(db: Database, pairs: DirectEnds) {
  const later = prepareLater(db);
  const remove = later<[number, string, number], { started: number }>(`
    DELETE FROM inbox_work WHERE seq = ? AND handler = ? AND state = 'leased' AND lease = ? RETURNING started`);
  const markDone = later<[number, string, number, number]>(
    "INSERT INTO inbox_done (seq, handler, settled_at, attempts, discarded) VALUES (?, ?, ?, ?, 0)",
  );
  const setPending = later(`
    UPDATE inbox_work
    SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error, lease = NULL, lease_until = NULL,
        finished = finished + 1
    WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token`);
  const setStuck = later(`
    UPDATE inbox_work
    SET state = :to, settled_at = :at, reason = :reason, error = :error, lease = NULL, lease_until = NULL,
        finished = finished + 1
    WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token`);
  const noteFailure = prepareNoteFailure(db);
  const dropSteps = prepareDropSteps(db);
  const record = prepareRecordOfHandler(db);

  function move(settlement: Settlement): boolean {
    const { seq, handler, token, at } = settlement;
    switch (settlement.to) {
      case "done": {
        const removed = remove().get(seq, handler, token);
        if (removed === undefined) return false;
        markDone().run(seq, handler, at, removed.started);
        record(settlement);
        return true;
      }
      case "pending":
        return setPending().run(settlement).changes === 1;
      case "dead":
      case "parked":
        return setStuck().run(settlement).changes === 1;
    }
  }

  /** A first run that succeeds leaves a mark and had no row; any other end needs one. */
  function endDirect(settlement: Settlement): boolean {
    if (!isDirect(settlement)) return false;
    if (settlement.to === "done" && !settlement.dropSteps && pairs.end(settlement, settlement.at)) {
      record(settlement);
      return true;
    }
    pairs.addRow(settlement, settlement.at);
    return false;
  }

  return (settlement: Settlement): SettleResult => {
    if (endDirect(settlement)) return "settled";
    if (!move(settlement)) return "lost";
    if (settlement.dropSteps) dropSteps(settlement);
    if (settlement.to !== "done") noteFailure(settlement);
    return "settled";
  };
}
