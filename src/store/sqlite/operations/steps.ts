import type { Database } from "better-sqlite3";
import type { KeptStep } from "../../inbox-view.js";
import type { SettleResult } from "../../store.js";
import type { Lease } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { overwriting } from "../overwriting.js";

/** Reads the values of a handler's finished steps, as long as it is not done. */
export function prepareLoadSteps(db: Database) {
  const select = db.prepare<Pick<Lease, "seq" | "handler">, { name: string; value: string }>(
    "SELECT name, value FROM inbox_step WHERE seq = :seq AND handler = :handler AND value <> ''",
  );
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): Record<string, string> =>
    Object.fromEntries(select.all({ seq, handler }).map(({ name, value }) => [name, value]));
}

/** Reads the names and times of a handler's finished steps, for people; oldest first. */
export function prepareReadKeptSteps(db: Database) {
  const select = db.prepare<Pick<Lease, "seq" | "handler">, KeptStep>(
    "SELECT name, saved_at AS at FROM inbox_step WHERE seq = :seq AND handler = :handler ORDER BY saved_at, name",
  );
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): KeptStep[] => select.all({ seq, handler });
}

/** Keeps the value of a finished step, while the lease holds. The first value of a name stays. */
export function prepareSaveStep(db: Database) {
  const insert = db.prepare(`
    INSERT INTO inbox_step (seq, handler, name, value, saved_at)
    SELECT seq, handler, :name, :value, :at FROM inbox_work
    WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token
    ON CONFLICT (seq, handler, name) DO UPDATE
      SET value = CASE inbox_step.value WHEN '' THEN excluded.value ELSE inbox_step.value END`);
  return ({ lease, name, value, at }: { lease: Lease; name: string; value: string; at: number }): SettleResult =>
    insert.run({ ...lease, name, value, at }).changes === 1 ? "settled" : "lost";
}

/**
 * Drops the values of the steps of a handler that is done; names and times stay for people. An erasure later does not
 * find what is in no table any more.
 */
export function prepareDropSteps(db: Database) {
  const drop = prepareLater(db)("UPDATE inbox_step SET value = '' WHERE seq = :seq AND handler = :handler");
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): void =>
    void overwriting(db, () => drop().run({ seq, handler }));
}
