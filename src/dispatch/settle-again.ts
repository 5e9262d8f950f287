import type { Clock } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import { sleep } from "../base/wait.js";
import type { Store } from "../store/store.js";
import { BUSY_WAITS } from "../store/while-busy.js";
import type { Settlement } from "../store/work.js";

/** Refusals that may end by themselves. */
const PASSING: readonly string[] = ["store_busy", "store_full", "store_unreachable", "store_not_primary"];

export interface SettleAgainDeps {
  store: Store<unknown>;
  clock: Clock;
  logger: Logger;
  /** True once the process ends, and does not wait for a server any more. */
  isEnding: () => boolean;
}

/**
 * Writes a settlement again that the store has refused with `refusal`, while that may end by itself. False when the
 * lease is lost or the store is broken.
 */
export async function settleAgain(
  settlement: Settlement,
  refusal: unknown,
  { store, clock, logger, isEnding }: SettleAgainDeps,
): Promise<boolean> {
  const { tries, waitMs } = BUSY_WAITS.settlement;
  let error = refusal;
  for (let attempt = 1; attempt < tries && mayHelp(error, isEnding()); attempt += 1) {
    await sleep(clock, waitMs);
    try {
      return (await store.settle(settlement)) === "settled";
    } catch (next) {
      error = next;
    }
  }
  logger.error({ handler: settlement.handler, ...errorFields(error, true) }, "settle_failed");
  return false;
}

function mayHelp(error: unknown, isEnding: boolean): boolean {
  if (isEnding && isPigeonholeError(error, "store_unreachable")) return false;
  return isPigeonholeError(error) && PASSING.includes(error.code);
}
