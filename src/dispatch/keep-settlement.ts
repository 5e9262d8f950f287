import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import { sleep } from "../base/sleep.js";
import type { Store } from "../store/store.js";
import type { Settlement } from "../store/work.js";

/** A busy store is asked again to take a settlement; the lease is renewed meanwhile. */
const SETTLE_RETRY_MS = SECOND;
const SETTLE_TRIES = 60;

/** Writes a settlement, for as long as the store is only busy. False when the lease is lost or the store is broken. */
export async function keepSettlement(
  settlement: Settlement,
  { store, clock, logger }: { store: Store; clock: Clock; logger: Logger },
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await store.settle(settlement)) === "settled";
    } catch (error) {
      const mayHelp = isPigeonholeError(error, "store_busy") || isPigeonholeError(error, "store_full");
      if (!mayHelp || attempt === SETTLE_TRIES) {
        logger.error({ handler: settlement.handler, ...errorFields(error, true) }, "settle_failed");
        return false;
      }
      await sleep(clock, SETTLE_RETRY_MS);
    }
  }
}
