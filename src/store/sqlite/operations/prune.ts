import type { Database } from "better-sqlite3";
import type { PruneLimits } from "../../store.js";

/** No handler works on the event or will. */
const isSettled = (table: string): string => `NOT EXISTS (SELECT 1 FROM inbox_work AS w WHERE w.seq = ${table}.seq)
      AND NOT EXISTS (SELECT 1 FROM inbox_in_flight AS f WHERE f.seq = ${table}.seq)`;

interface Row {
  seq: number;
  receivedAt: number;
  settled: number;
}

/**
 * Removes one small batch, oldest first. Two marks remember how far earlier batches came, so that events which must stay
 * (their work is not settled) are not looked at again until the marks start over.
 */
export function preparePrune(db: Database) {
  // Of the bodies of one id the first goes last, and none while one of them is not settled.
  const selectOld = db.prepare<object, Row>(`
    SELECT e.seq, e.received_at AS receivedAt,
      ${isSettled("e")}
        AND NOT EXISTS (SELECT 1 FROM inbox_other AS o WHERE o.first = e.seq)
        AND NOT EXISTS (
          SELECT 1 FROM inbox_other AS o JOIN inbox_other AS s ON s.first = o.first JOIN inbox_work AS w ON w.seq IN (s.seq, s.first)
          WHERE o.seq = e.seq) AS settled
    FROM inbox_event AS e WHERE e.seq > :after ORDER BY e.seq LIMIT :batch`);
  const selectBodies = db.prepare<object, Row>(`
    SELECT b.seq, e.received_at AS receivedAt,
      ${isSettled("b")} AS settled
    FROM inbox_body AS b JOIN inbox_event AS e ON e.seq = b.seq WHERE b.seq > :after ORDER BY b.seq LIMIT :batch`);
  const dropBody = db.prepare("DELETE FROM inbox_body WHERE seq = :seq");
  const dropEvent = db.prepare("DELETE FROM inbox_event WHERE seq = :seq");
  const dropMarks = db.prepare("DELETE FROM inbox_done WHERE seq = :seq");
  const dropSharedMarks = prepareDropSharedMarks(db);
  const dropSteps = db.prepare("DELETE FROM inbox_step WHERE seq = :seq");
  const dropOther = db.prepare("DELETE FROM inbox_other WHERE seq = :seq");
  const dropHolders = db.prepare("DELETE FROM inbox_holder WHERE first = :seq");
  const forgetHolder = db.prepare(`
    UPDATE inbox_holder SET seq = 0 WHERE seq = :seq AND first = (SELECT first FROM inbox_other WHERE seq = :seq)`);

  // A discarded event keeps its place in a call that may be repeated; a trigger keeps the last one that was taken.
  const selectSent = db.prepare<object, Row>(`
    SELECT seq, recorded_at AS receivedAt, state = 'done' AND send IS NULL AS settled
    FROM outbox_event WHERE seq > :after ORDER BY seq LIMIT :batch`);
  const dropSent = db.prepare("DELETE FROM outbox_event WHERE seq = :seq");

  /** Each kind of row with its oldest-first reader, what removing one means, and how far earlier batches came. */
  const kinds = {
    event: { select: selectOld, after: 0, remove: removeEvent },
    body: { select: selectBodies, after: 0, remove: (seq: number) => dropBody.run({ seq }) },
    sent: { select: selectSent, after: 0, remove: (seq: number) => dropSent.run({ seq }) },
  };

  function removeEvent(seq: number): void {
    dropBody.run({ seq });
    dropMarks.run({ seq });
    dropSteps.run({ seq });
    forgetHolder.run({ seq });
    dropHolders.run({ seq });
    dropOther.run({ seq });
    dropEvent.run({ seq });
  }

  function sweep(kind: keyof typeof kinds, before: number, { now, batch }: PruneLimits): number {
    const rows = kinds[kind];
    const { after } = rows;
    let seen = 0;
    for (const row of rows.select.all({ after: rows.after, batch })) {
      // What came while the clock was ahead is passed over: it must not keep what is behind it for as long.
      const isOfTheFuture = row.receivedAt > now;
      if (row.receivedAt >= before && !isOfTheFuture) break;
      seen += 1;
      rows.after = row.seq;
      if (row.settled === 1 && !isOfTheFuture) rows.remove(row.seq);
    }
    if (kind === "event" && seen > 0) dropSharedMarks.run({ after, through: rows.after });
    return seen;
  }

  return (limits: PruneLimits): number => {
    const { idsBefore, bodiesBefore, sentBefore } = limits;
    const seen =
      sweep("event", idsBefore, limits) || sweep("body", bodiesBefore, limits) || sweep("sent", sentBefore, limits);
    // All together, or every batch of one kind would begin by looking at the same rows of another once more.
    if (seen === 0) kinds.event.after = kinds.body.after = kinds.sent.after = 0;
    return seen;
  };
}

/**
 * Between two numbers of events. A mark goes with the last of the events that it lies over, which may be another handler's. Handlers are
 * found without a look at all marks.
 */
function prepareDropSharedMarks(db: Database) {
  return db.prepare(`
    WITH RECURSIVE marking (handler) AS (
      SELECT min(handler) FROM inbox_mark
      UNION ALL SELECT (SELECT min(handler) FROM inbox_mark AS m WHERE m.handler > marking.handler) FROM marking WHERE handler IS NOT NULL)
    DELETE FROM inbox_mark
    WHERE handler IN marking AND first BETWEEN :after - 255 AND :through
      AND NOT EXISTS (SELECT 1 FROM inbox_event AS e WHERE e.seq BETWEEN inbox_mark.first AND inbox_mark.last)`);
}
