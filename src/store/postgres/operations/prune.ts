import { noteRemoval } from "../../queries/known-ids.js";
import { type PrunedTo, sweep } from "../../queries/prune.js";
import type { PruneLimits } from "../../store.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";
import { type KeyRow, removeKeys } from "./keys.js";

/** Removes what retention no longer keeps, a small batch at a time, oldest first. */
export class PruneRound {
  readonly #reached: PrunedTo = new Map();
  #afterKey: KeyRow | undefined;

  /** Returns how many rows it checked; 0 when the round is over. */
  async prune(sql: Sql, limits: PruneLimits): Promise<number> {
    // Each time: a round that failed goes on with later limits.
    await runOnServer(sql, noteRemoval(limits.idsBefore));
    const swept = await sql.transaction(() => runOnServer(sql, sweep(limits, this.#reached)));
    if (swept > 0) return swept;
    const checked = await removeKeys(sql, this.#afterKey, limits.batch);
    this.#afterKey = checked.at(-1);
    if (checked.length === 0) this.#reached.clear();
    return checked.length;
  }
}
