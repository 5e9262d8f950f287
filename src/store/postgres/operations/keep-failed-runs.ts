/**
 * Parts of a statement with the rows `moved` of settled runs: keeps the error of each in full, and of the runs before
 * it only the first since a retry.
 */
export const KEEP_FAILED_RUNS = `
  dropped_runs AS (
    DELETE FROM pigeonhole.inbox_failed AS f USING moved AS m
    WHERE m.stack IS NOT NULL AND f.seq = m.seq AND f.handler = m.handler AND f.attempt <> m.started
      AND (m.finished = 1 OR f.attempt >
        (SELECT min(attempt) FROM pigeonhole.inbox_failed AS g WHERE g.seq = m.seq AND g.handler = m.handler))
  ), kept_runs AS (
    INSERT INTO pigeonhole.inbox_failed (seq, handler, attempt, stack, failed_at)
    SELECT seq, handler, started, stack, failed_at FROM moved WHERE stack IS NOT NULL
    ON CONFLICT (seq, handler, attempt) DO UPDATE SET stack = excluded.stack, failed_at = excluded.failed_at
  )`;
