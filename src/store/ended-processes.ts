import { LIMITS } from "../protocol/limits.js";
import { failuresInARow, failuresLeft } from "./failures-in-a-row.js";
import { JOINED, type StoredStatus, fromStoredStatus } from "./figure-rows.js";
import type { ProcessStatus } from "./figures.js";
import { LIVES_MS } from "./process-state.js";

/**
 * The one status of all processes that have ended, once another one has: so that the next process goes on counting the
 * answers where they stopped. `joined` is the one before.
 */
export function joinEnded(joined: StoredStatus | undefined, last: ProcessStatus, now: number): StoredStatus {
  const all = joined === undefined ? [last] : [fromStoredStatus(joined), last];
  // A clock that was ahead must not let later answers look older.
  const latest = (times: readonly (number | undefined)[]): number | undefined => {
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(now, Math.max(...known));
  };
  const failureTimes = failuresLeft(all).map((time) => Math.min(now, time));
  const status = JSON.stringify({
    ...last,
    process: JOINED,
    state: "stopped",
    failuresInARow: failuresInARow(all),
    failureTimes: failureTimes.toSorted((one, other) => one - other).slice(-LIMITS.disableAfterFailures),
    lastSuccessAt: latest(all.map(({ lastSuccessAt }) => lastSuccessAt)),
    lastAcceptedAt: latest(all.map(({ lastAcceptedAt }) => lastAcceptedAt)),
    waiting: 0,
    runningCount: 0,
    running: [],
    waitsFor: {},
  } satisfies ProcessStatus);
  // None that lives.
  return { at: now - LIVES_MS, status };
}
