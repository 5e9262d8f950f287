import type { Database } from "better-sqlite3";
import {
  type EndedRuns,
  type HandlerTimes,
  type HandlerTimesQuery,
  stepsAt,
  stepsOf,
  toHandlerTimes,
} from "../../handler-times.js";

/** Adds ended runs to the counts, and drops the oldest step of them once it is too old: each call drops one at most. */
export function prepareNoteHandlerTimes(db: Database) {
  const add = db.prepare<EndedRuns & { step: number }>(`
    INSERT INTO inbox_handler_time (step, handler, outcome, from_ms, runs)
    VALUES (:step, :handler, :outcome, :fromMs, :runs)
    ON CONFLICT (step, handler, outcome, from_ms) DO UPDATE SET runs = runs + excluded.runs`);
  const drop = db.prepare<{ oldest: number }>(`
    DELETE FROM inbox_handler_time
    WHERE step = (SELECT min(step) FROM inbox_handler_time) AND step < :oldest`);

  return ({ ended, now }: { ended: readonly EndedRuns[]; now: number }): void => {
    const { step, oldest } = stepsAt(now);
    for (const { handler, outcome, fromMs, runs } of ended) add.run({ step, handler, outcome, fromMs, runs });
    drop.run({ oldest });
  };
}

/** Adds up the counts of the chosen steps. */
export function prepareHandlerTimes(db: Database) {
  const select = db.prepare<{ first: number; before: number; handler: string | null }, EndedRuns>(`
    SELECT handler, outcome, from_ms AS fromMs, sum(runs) AS runs FROM inbox_handler_time
    WHERE step >= :first AND step < :before AND (:handler IS NULL OR handler = :handler)
    GROUP BY handler, outcome, from_ms`);
  return (query: HandlerTimesQuery): HandlerTimes[] =>
    toHandlerTimes(select.all({ ...stepsOf(query), handler: query.handler ?? null }));
}
