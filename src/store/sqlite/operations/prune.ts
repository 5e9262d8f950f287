import type { Database } from "better-sqlite3";

export interface PruneLimits {
  idsBefore: number;
  bodiesBefore: number;
  batch: number;
}

/**
 * Removes one small batch, oldest first. Two marks remember how far earlier batches came, so that events which must stay
 * (their work is not settled) are not looked at again until the marks start over.
 */
export function preparePrune(db: Database) {
  const selectOld = db.prepare<object, { seq: number; receivedAt: number; settled: number }>(`
    SELECT e.seq, e.received_at AS receivedAt,
      NOT EXISTS (SELECT 1 FROM inbox_work AS w WHERE w.seq = e.seq) AS settled
    FROM inbox_event AS e WHERE e.seq > :after ORDER BY e.seq LIMIT :batch`);
  const selectBodies = db.prepare<object, { seq: number; receivedAt: number; settled: number }>(`
    SELECT b.seq, e.received_at AS receivedAt,
      NOT EXISTS (SELECT 1 FROM inbox_work AS w WHERE w.seq = b.seq) AS settled
    FROM inbox_body AS b JOIN inbox_event AS e ON e.seq = b.seq WHERE b.seq > :after ORDER BY b.seq LIMIT :batch`);
  const dropBody = db.prepare("DELETE FROM inbox_body WHERE seq = :seq");
  const dropEvent = db.prepare("DELETE FROM inbox_event WHERE seq = :seq");
  const dropMarks = db.prepare("DELETE FROM inbox_done WHERE seq = :seq");
  const dropSteps = db.prepare("DELETE FROM inbox_step WHERE seq = :seq");

  const marks = { event: 0, body: 0 };

  function sweep(kind: "event" | "body", select: typeof selectOld, before: number, batch: number): number {
    let removed = 0;
    let seen = 0;
    for (const row of select.all({ after: marks[kind], batch })) {
      if (row.receivedAt >= before) break;
      seen += 1;
      marks[kind] = row.seq;
      if (row.settled === 0) continue;
      removed += dropBody.run({ seq: row.seq }).changes;
      if (kind === "body") continue;
      dropMarks.run({ seq: row.seq });
      dropSteps.run({ seq: row.seq });
      removed += dropEvent.run({ seq: row.seq }).changes;
    }
    return Math.max(removed, seen);
  }

  return ({ idsBefore, bodiesBefore, batch }: PruneLimits): number => {
    const count = sweep("event", selectOld, idsBefore, batch) || sweep("body", selectBodies, bodiesBefore, batch);
    // Both together, or every batch of bodies would begin by looking at the same events once more.
    if (count === 0) marks.event = marks.body = 0;
    return count;
  };
}
