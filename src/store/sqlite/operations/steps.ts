import type { Database } from "better-sqlite3";
import type { SettleResult } from "../../store.js";
import type { Lease } from "../../work.js";
import { FROM_OWN_PAIR } from "../direct-pairs.js";
import { prepareLater } from "../on-first-use.js";
import { overwriting } from "../overwriting.js";

/** Reads the values of a handler's finished steps. */
export function prepareLoadSteps(db: Database) {
  const select = db.prepare<Pick<Lease, "seq" | "handler">, { name: string; value: string }>(
    "SELECT name, value FROM inbox_step WHERE seq = :seq AND handler = :handler",
  );
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): Record<string, string> =>
    Object.fromEntries(select.all({ seq, handler }).map(({ name, value }) => [name, value]));
}

/** Keeps the value of a finished step, while the lease holds. The first value of a name stays. */
export function prepareSaveStep(db: Database) {
  const insert = db.prepare(`
    INSERT INTO inbox_step (seq, handler, name, value)
    SELECT :seq, :handler, :name, :value FROM (
      SELECT 1 FROM inbox_work WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token
      UNION ALL
      SELECT 1 ${FROM_OWN_PAIR})
    WHERE true
    ON CONFLICT (seq, handler, name) DO UPDATE SET value = inbox_step.value`);
  return ({ lease, name, value }: { lease: Lease; name: string; value: string }): SettleResult =>
    insert.run({ ...lease, name, value }).changes === 1 ? "settled" : "lost";
}

/** Removes the steps of a handler that is done. An erasure later does not find what is in no table any more. */
export function prepareDropSteps(db: Database) {
  const drop = prepareLater(db)("DELETE FROM inbox_step WHERE seq = :seq AND handler = :handler");
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): void =>
    void overwriting(db, () => drop().run({ seq, handler }));
}
