import { vi } from "vitest";
import { endOfTurn } from "./end-of-turn.js";

/** So much time passes at most: then what hangs waits for the limit of its test. */
const MAX_WAIT_MS = 300_000;
const STEP_MS = 20;

/**
 * Does work whose waits on the machine's clock pass at once, where no option gives it another clock. It must not wait
 * for sockets or threads: its limits of time pass at once too.
 */
export async function passWaits<Result>(work: () => Promise<Result>): Promise<Result> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const result = work();
  const over = result.then(
    () => true,
    () => true,
  );
  for (let passedMs = 0; passedMs < MAX_WAIT_MS; passedMs += STEP_MS) {
    await vi.advanceTimersByTimeAsync(STEP_MS);
    if (await Promise.race([over, endOfTurn()])) break;
  }
  vi.useRealTimers();
  return result;
}
