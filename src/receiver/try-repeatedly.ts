import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { sleep } from "../base/wait.js";

/** Short, since a secret that was rotated is known to no other program until it is handed over. */
const BETWEEN_TRIES: Backoff = { initialMs: 0.1 * SECOND, factor: 2, maxMs: 5 * SECOND, jitter: 0.1 };

/** Calls a function until it succeeds, at most `tries` times, with waits between. Rejects with its last error. */
export async function tryRepeatedly<Value>(
  work: () => Value | Promise<Value>,
  { tries, mayRepeat = () => true }: { tries: number; mayRepeat?: (error: unknown) => boolean },
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === tries || !mayRepeat(error)) throw error;
      await sleep(waitingClock, backoffDelay(BETWEEN_TRIES, attempt, Math.random));
    }
  }
}
