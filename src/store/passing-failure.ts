import { type ErrorCode, type PigeonholeError, isPigeonholeError } from "../base/error.js";

/** Refusals of a store that may end by themselves. A handler can cause them too, and then each of its runs does. */
const PASSING: readonly ErrorCode[] = ["store_busy", "store_full", "store_unreachable", "store_not_primary"];
/** Those of a store that takes nothing from this process at the moment. */
const AWAY: readonly ErrorCode[] = ["store_unreachable", "store_not_primary"];

/** True for a failure of the store after which the same may succeed later. */
export function isPassingFailure(error: unknown): error is PigeonholeError {
  return PASSING.some((code) => isPigeonholeError(error, code));
}

/** True when the store cannot be reached, or not where it takes writes. */
export function isStoreAway(error: unknown): boolean {
  return AWAY.some((code) => isPigeonholeError(error, code));
}
