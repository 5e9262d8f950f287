import type { Database } from "better-sqlite3";
import type { StoreCounts } from "../../inbox-view.js";

/** Counts from the partial indexes, and what is in flight; the number of stored events does not matter. */
export function prepareCounts(db: Database) {
  const countLeased = db
    .prepare<[], number>(`
    SELECT (SELECT count(*) FROM inbox_work WHERE state = 'leased') + (SELECT count(*) FROM inbox_in_flight)`)
    .pluck();
  const pendingByHandler = db.prepare<[], { handler: string; pending: number; dueAt: number }>(`
    SELECT handler, count(*) AS pending, min(due_at) AS dueAt
    FROM inbox_work INDEXED BY inbox_work_pending WHERE state = 'pending' GROUP BY handler`);
  const countStuck = db
    .prepare<{ state: "dead" | "parked" }, number>(`
    SELECT count(*) FROM inbox_work WHERE state = :state AND state IN ('dead', 'parked')`)
    .pluck();
  const oldestPending = db
    .prepare<[], number>(`
    SELECT e.received_at FROM inbox_work AS w JOIN inbox_event AS e ON e.seq = w.seq
    WHERE w.state = 'pending' ORDER BY w.seq LIMIT 1`)
    .pluck();
  const oldestLeased = db
    .prepare<[], number>(`
    SELECT received_at FROM inbox_event
    WHERE seq = (SELECT min(seq) FROM (
      SELECT min(seq) AS seq FROM inbox_work INDEXED BY inbox_work_leased WHERE state = 'leased'
      UNION ALL SELECT min(seq) FROM inbox_in_flight))`)
    .pluck();
  const readDone = db.prepare<[], number>("SELECT value FROM counter WHERE name = 'done'").pluck();

  return ({ now }: { now: number }): StoreCounts => {
    const byHandler = pendingByHandler.all();
    const dues = byHandler.map((row) => row.dueAt).filter((dueAt) => dueAt <= now);
    return {
      pending: byHandler.reduce((sum, row) => sum + row.pending, 0),
      leased: countLeased.get() ?? 0,
      dead: countStuck.get({ state: "dead" }) ?? 0,
      parked: countStuck.get({ state: "parked" }) ?? 0,
      done: readDone.get() ?? 0,
      oldestPendingReceivedAt: oldestPending.get(),
      oldestLeasedReceivedAt: oldestLeased.get(),
      oldestDueAt: dues.length === 0 ? undefined : Math.min(...dues),
      pendingByHandler: Object.fromEntries(byHandler.map((row) => [row.handler, row.pending])),
    };
  };
}

/** Adds to the number of runs done; once per transaction, whoever settles in it. */
export function prepareAddDone(db: Database) {
  const add = db.prepare("UPDATE counter SET value = value + :done WHERE name = 'done'");
  return (done: number): void => {
    if (done > 0) add.run({ done });
  };
}
