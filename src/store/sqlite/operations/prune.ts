import type { Database } from "better-sqlite3";
import type { PruneLimits } from "../../store.js";
import { lazy } from "../../../base/lazy.js";
import { prepareDropFailedRuns } from "./failed-runs.js";
import { noteRemoval } from "../../queries/known-ids.js";
import { runInFile } from "../run-in-file.js";
import { planFree } from "../plan-free.js";
import { OPEN } from "./open-work.js";

/** No handler runs on the event, and none will. */
const IS_SETTLED = `NOT EXISTS (SELECT 1 FROM inbox_work AS w WHERE w.seq = :seq AND w.${OPEN})`;

/**
 * Only rows that are old enough are checked with it, since it costs more than reading the age. Of the bodies of one id,
 * the first is removed last, and none while one of them is not settled.
 */
const MAY_GO = {
  event: `
    SELECT 1 WHERE ${IS_SETTLED}
      AND NOT EXISTS (SELECT 1 FROM inbox_other AS o WHERE o.first = :seq)
      AND NOT EXISTS (
        SELECT 1 FROM inbox_other AS o JOIN inbox_other AS s ON s.first = o.first JOIN inbox_work AS w ON w.seq IN (s.seq, s.first)
        WHERE o.seq = :seq AND w.${OPEN})`,
  body: `SELECT 1 WHERE ${IS_SETTLED}`,
  // A discarded event keeps its place in a call that may be repeated.
  sent: "SELECT 1 FROM outbox_event WHERE seq = :seq AND state = 'done' AND send IS NULL",
};

interface Row {
  seq: number;
  receivedAt: number;
  /** When the row began to count: later than `receivedAt` if the clock was behind then. */
  since: number;
}

/**
 * Removes one small batch, oldest first. Each kind of row has a position that earlier batches have reached, so that
 * rows which must stay (their work is not settled) are not read again until the positions are reset.
 */
export function preparePrune(db: Database) {
  const removeEvent = lazy(() => prepareRemoveEvent(db));
  const dropBody = lazy(() => prepareDropBody(db));
  const dropSent = lazy(() => db.prepare("DELETE FROM outbox_event WHERE seq = :seq"));

  /**
   * For each kind of row: how it is read, oldest first, whether a row may be removed, how it is removed, and the
   * position that earlier batches have reached.
   */
  const kinds = {
    event: {
      select: prepareSelect(db, "inbox_event AS r", "r.received_at", "max(r.received_at, r.signed_at)"),
      mayGo: lazy(() => prepareAsk(db, MAY_GO.event)),
      after: 0,
      remove: (seq: number): void => removeEvent()(seq),
    },
    body: {
      select: prepareSelect(db, "inbox_body AS r JOIN inbox_event AS e ON e.seq = r.seq", "e.received_at"),
      mayGo: lazy(() => prepareAsk(db, MAY_GO.body)),
      after: 0,
      remove: (seq: number): void => dropBody()(seq),
    },
    sent: {
      select: prepareSelect(db, "outbox_event AS r", "r.recorded_at"),
      mayGo: lazy(() => prepareAsk(db, MAY_GO.sent)),
      after: 0,
      remove: (seq: number): void => void dropSent().run({ seq }),
    },
  };

  function sweep(kind: keyof typeof kinds, before: number, { now, batch }: PruneLimits): number {
    const rows = kinds[kind];
    const { after } = rows;
    let seen = 0;
    for (const row of rows.select.all({ after, batch })) {
      // Rows received while the clock was ahead are skipped: otherwise they would keep those behind them for as long.
      const isOfTheFuture = row.receivedAt > now;
      if (row.receivedAt >= before && !isOfTheFuture) break;
      seen += 1;
      rows.after = row.seq;
      if (!isOfTheFuture && row.since < before && rows.mayGo()(row.seq)) rows.remove(row.seq);
    }
    return seen;
  }

  return (limits: PruneLimits): number => {
    const { idsBefore, bodiesBefore, sentBefore } = limits;
    if (kinds.event.after === 0) runInFile(db, noteRemoval(idsBefore));
    const seen =
      sweep("event", idsBefore, limits) || sweep("body", bodiesBefore, limits) || sweep("sent", sentBefore, limits);
    // All at once: otherwise every batch of one kind would begin by reading the same rows of another kind again.
    if (seen === 0) kinds.event.after = kinds.body.after = kinds.sent.after = 0;
    return seen;
  };
}

/** Reads rows of a table after a number, oldest first. */
function prepareSelect(db: Database, table: string, time: string, since = time) {
  return db.prepare<object, Row>(`
    SELECT r.seq, ${time} AS receivedAt, ${since} AS since FROM ${table} WHERE r.seq > :after ORDER BY r.seq LIMIT ${planFree(":batch", "number")}`);
}

/** True for the row of this number that the query finds. */
function prepareAsk(db: Database, query: string): (seq: number) => boolean {
  const ask = db.prepare<{ seq: number }, 1>(query);
  return (seq) => ask.get({ seq }) !== undefined;
}

/** With the errors in full and the names of steps, which may quote it. */
function prepareDropBody(db: Database): (seq: number) => void {
  const dropBody = db.prepare("DELETE FROM inbox_body WHERE seq = :seq");
  const dropFailedRuns = prepareDropFailedRuns(db);
  const dropSteps = db.prepare("DELETE FROM inbox_step WHERE seq = :seq");
  return (seq) => {
    dropBody.run({ seq });
    dropFailedRuns(seq);
    dropSteps.run({ seq });
  };
}

function prepareRemoveEvent(db: Database): (seq: number) => void {
  const removals = [
    "DELETE FROM inbox_body WHERE seq = :seq",
    "DELETE FROM inbox_work WHERE seq = :seq",
    "DELETE FROM inbox_step WHERE seq = :seq",
    "DELETE FROM inbox_failed WHERE seq = :seq",
    "UPDATE inbox_holder SET seq = 0 WHERE seq = :seq AND first = (SELECT first FROM inbox_other WHERE seq = :seq)",
    "DELETE FROM inbox_holder WHERE first = :seq",
    "DELETE FROM inbox_other WHERE seq = :seq",
    "DELETE FROM inbox_event WHERE seq = :seq",
  ].map((sql) => db.prepare(sql));
  return (seq) => {
    for (const removal of removals) removal.run({ seq });
  };
}
