import { noteRemoval } from "../../queries/known-ids.js";
import { EVENTS, type PrunedKind, SENT, TEXTS, bodiesOf, sweep } from "../../queries/prune.js";
import type { PruneLimits, StoreContext } from "../../store.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";
import { NO_SLOT, bodiesIn, firstSeqIn, readSlots } from "./body-slots.js";
import { SlotRound } from "./empty-slots.js";
import { type KeyRow, removeKeys } from "./keys.js";

/** Removes what retention no longer keeps, a small batch at a time, oldest first. */
export class PruneRound {
  readonly #slots: SlotRound;
  /** Events below it are removed one by one. Those from there on have bodies that end with their slot, and stay. */
  #end: number | undefined;
  #bodies: readonly PrunedKind[] = [];
  readonly #after = new Map<PrunedKind, number>();
  #afterKey: KeyRow | undefined;

  constructor(onAlarm: StoreContext["onAlarm"]) {
    this.#slots = new SlotRound(onAlarm);
  }

  /** Returns how many rows it checked; 0 when the round is over. */
  async prune(sql: Sql, limits: PruneLimits): Promise<number> {
    const seen =
      (await this.#slots.step(sql, limits)) ||
      (await this.#sweepRows(sql, limits)) ||
      (await this.#sweepKeys(sql, limits.batch));
    // All at once: otherwise every batch of one kind would begin by reading the same rows of another kind again.
    if (seen === 0) {
      this.#slots.begin();
      this.#end = undefined;
      this.#after.clear();
      this.#afterKey = undefined;
    }
    return seen;
  }

  async #sweepRows(sql: Sql, limits: PruneLimits): Promise<number> {
    const { idsBefore, bodiesBefore, sentBefore } = limits;
    // Each time: a round that failed goes on with later limits.
    await runOnServer(sql, noteRemoval(idsBefore));
    if (this.#end === undefined) {
      const { current, closed } = await readSlots(sql);
      // The current one may stay it for long.
      this.#bodies = [...new Set([NO_SLOT, current])].map((slot) => bodiesOf(`ONLY ${bodiesIn(slot)}`));
      this.#end = await firstSeqIn(sql, closed);
    }
    const texts = [...this.#bodies, TEXTS].map((kind) => [kind, bodiesBefore] as const);
    const kinds = [[EVENTS, idsBefore] as const, ...texts, [SENT, sentBefore] as const];
    const limited = { ...limits, end: this.#end };
    return sql.transaction(() => runOnServer(sql, sweep(kinds, limited, this.#after)));
  }

  async #sweepKeys(sql: Sql, batch: number): Promise<number> {
    const checked = await removeKeys(sql, this.#afterKey, batch);
    this.#afterKey = checked.at(-1) ?? this.#afterKey;
    return checked.length;
  }
}
