import type { Database } from "better-sqlite3";
import { prepareLater } from "../on-first-use.js";

const CRASH_COUNTS = [0, 1, 2];

/**
 * A wait that began later than now, under a clock that was ahead, begins now; one whose beginning is not noted is over.
 */
const RESTART = "due_at = :now + due_at - coalesce(waits_since, due_at), waits_since = :now";
const BEGAN_LATER = "due_at > :now AND coalesce(waits_since, due_at) > :now";

/**
 * Corrects what was written while the clock was ahead: waits for a next try keep their intended length, and leases end
 * as those given now. Does not read work that is due.
 */
export function prepareRestartWaits(db: Database) {
  const nextHandler = db
    .prepare<[string], string>(`
    SELECT handler FROM inbox_work INDEXED BY inbox_work_pending WHERE state = 'pending' AND handler > ?
    ORDER BY handler LIMIT 1`)
    .pluck();
  const restartWork = prepareLater(db)(`
    UPDATE inbox_work INDEXED BY inbox_work_pending SET ${RESTART}
    WHERE state = 'pending' AND handler = :handler AND min(started - finished, 2) = :crashes AND ${BEGAN_LATER}`);
  const restartSends = db.prepare(`UPDATE outbox_send SET ${RESTART} WHERE state = 'pending' AND ${BEGAN_LATER}`);
  const shortenLeases = db.prepare(`
    UPDATE inbox_work INDEXED BY inbox_work_open SET lease_until = :leaseUntil
    WHERE state <> 'done' AND state = 'leased' AND lease_until > :leaseUntil`);

  return ({ now, leaseUntil }: { now: number; leaseUntil: number }): number => {
    let restarted = restartSends.run({ now }).changes;
    for (let handler = nextHandler.get(""); handler !== undefined; handler = nextHandler.get(handler)) {
      for (const crashes of CRASH_COUNTS) restarted += restartWork().run({ handler, crashes, now }).changes;
    }
    shortenLeases.run({ leaseUntil });
    return restarted;
  };
}
