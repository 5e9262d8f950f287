import type { Clock } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import { sleep } from "../base/wait.js";
import type { SettleResult, Store } from "../store/store.js";
import { BUSY_WAITS } from "../store/while-busy.js";
import type { Settlement } from "../store/work.js";
import { isPassingFailure } from "../store/passing-failure.js";

export interface SettleAgainDeps {
  store: Store<unknown>;
  clock: Clock;
  logger: Logger;
  /** True once the process ends, and does not wait for a server any more. */
  isEnding: () => boolean;
}

/**
 * Writes a settlement again that the store has refused with `refusal`, while that may end by itself, however long that
 * takes: a handler that has run would repeat what it did. Its lease is renewed meanwhile. `interrupted`: the receiver
 * stops before. A lease of a store that is broken is lost.
 */
export async function settleAgain(
  settlement: Settlement,
  refusal: unknown,
  { store, clock, logger, isEnding }: SettleAgainDeps,
): Promise<SettleResult | "interrupted"> {
  const { tries, waitMs } = BUSY_WAITS.settlement;
  const logFailed = (error: unknown): void =>
    logger.error({ handler: settlement.handler, ...errorFields(error, true) }, "settle_failed");
  let error = refusal;
  for (let attempt = 1; mayHelp(error, isEnding()); attempt += 1) {
    if (attempt === tries) logFailed(error);
    if (attempt >= tries && isEnding()) return "interrupted";
    await sleep(clock, waitMs);
    try {
      return await store.settle(settlement);
    } catch (next) {
      error = next;
    }
  }
  logFailed(error);
  return isPassingFailure(error) ? "interrupted" : "lost";
}

function mayHelp(error: unknown, isEnding: boolean): boolean {
  if (isEnding && isPigeonholeError(error, "store_unreachable")) return false;
  return isPassingFailure(error);
}
