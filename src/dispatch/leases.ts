import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import { sleep } from "../base/wait.js";
import type { Delivery } from "../protocol/decode-delivery.js";
import type { AnyEvent } from "../protocol/event.js";
import { isPassingFailure } from "../store/passing-failure.js";
import type { LeasePage, SettleResult } from "../store/store.js";
import { BUSY_WAITS } from "../store/while-busy.js";
import type { Lease, LeasedWork, Settlement } from "../store/work.js";
import type { WindowLease } from "./gate.js";
import type { LeaseWindow } from "./lease-window.js";
import type { StoreDeps } from "./registry.js";

export const LEASE_MS = MINUTE;

/** Leases work from the store, reads its events, and ends the leases. */
export class Leases {
  readonly #deps: StoreDeps;
  /** Leases of work that does not begin here, or was interrupted; the store may be out of reach at the moment. */
  readonly unreturned: Lease[] = [];
  #returnFails = false;
  /** The time of the stop is over: nothing waits for a silent server any more. */
  isEnding = false;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** True when other processes lease work of the same handlers at the same time. */
  get areShared(): boolean {
    return this.#deps.store.glance !== undefined;
  }

  /** Reads the events of a page, whose work waits in the window then. Rejects as the store does. */
  async read(window: LeaseWindow, page: LeasePage): Promise<WindowLease[]> {
    const read: { work: LeasedWork; event: AnyEvent }[] = [];
    try {
      for (const work of page.work) {
        const delivery = this.#deps.registry.read(work.body);
        if (delivery.kind === "event") read.push({ work, event: delivery.event });
        else await this.#park(work, delivery);
      }
    } catch (error) {
      // Leases without a holder would expire, and their work would count as that of a dead process.
      await this.giveBack(page.work);
      throw error;
    }
    if (!window.isClosed) return read.map(({ work, event }) => window.add(work, event));
    await this.giveBack(read.map(({ work }) => work));
    return [];
  }

  /** Gives back what has not begun, as if it had not been leased, and what could not be given back before. */
  async giveBack(leases: readonly Lease[]): Promise<void> {
    const { store, clock, logger } = this.#deps;
    const all = [...this.unreturned.splice(0), ...leases];
    if (all.length === 0) return;
    try {
      await store.release(all, clock.now());
      this.#returnFails = false;
    } catch (error) {
      // If this was the last time, they are treated as work of a dead process, which only counts one crash for each.
      this.unreturned.push(...all);
      if (!this.#returnFails) logger.error({ leases: all.length, ...errorFields(error, true) }, "release_failed");
      this.#returnFails = true;
    }
  }

  /**
   * Writes how a run ended, again and again while the store refuses it in a way that may end by itself: a handler that
   * has run would repeat what it did. Its lease is renewed meanwhile. `lost` also when the store is broken;
   * `interrupted` when the receiver stops before the store has taken that, so that the work runs again. Never rejects.
   */
  async settle(settlement: Settlement): Promise<SettleResult | "interrupted"> {
    const { store, clock, logger } = this.#deps;
    const { tries, waitMs } = BUSY_WAITS.settlement;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.settle(settlement);
      } catch (error) {
        const isOver = !mayHelp(error, this.isEnding);
        if (isOver || attempt === tries)
          logger.error({ handler: settlement.handler, ...errorFields(error, true) }, "settle_failed");
        if (isOver) return isPassingFailure(error) ? "interrupted" : "lost";
        if (attempt >= tries && this.isEnding) return "interrupted";
      }
      await sleep(clock, waitMs);
    }
  }

  /** A schema may have changed since the event was stored; what no longer fits is parked, not run. */
  async #park(work: LeasedWork, read: Extract<Delivery, { kind: "undecodable" }>): Promise<void> {
    const { reason, detail: error } = read;
    const { store, clock, logger } = this.#deps;
    const { seq, handler, token, eventId } = work;
    await store.settle({ seq, handler, token, at: clock.now(), dropSteps: false, to: "parked", reason, error });
    logger.warn({ eventId, handler, reason }, "parked");
  }
}

function mayHelp(error: unknown, isEnding: boolean): boolean {
  if (isEnding && isPigeonholeError(error, "store_unreachable")) return false;
  return isPassingFailure(error);
}
