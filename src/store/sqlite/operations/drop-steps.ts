import type { Database } from "better-sqlite3";
import type { Lease } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { overwriting } from "../overwriting.js";

/**
 * Drops the values of the steps of a handler that is done; names and times stay for people. An erasure later does not
 * find what is in no table any more.
 */
export function prepareDropSteps(db: Database) {
  const drop = prepareLater(db)("UPDATE inbox_step SET value = '' WHERE seq = :seq AND handler = :handler");
  return ({ seq, handler }: Pick<Lease, "seq" | "handler">): void =>
    void overwriting(db, () => drop().run({ seq, handler }));
}
