import type { Capture, CaptureAttempt } from "./capture.js";

/* Without node: imports, since the page uses it too. */

/** Attempts kept with a capture, so that repeated replays do not make its file grow without limit. */
const MAX_ATTEMPTS = 50;

/** The capture with one more attempt, numbered after the last. Only the latest attempts are kept. */
export function recordAttempt(capture: Capture, attempt: Omit<CaptureAttempt, "n">): Capture {
  const n = (capture.attempts.at(-1)?.n ?? 0) + 1;
  return { ...capture, attempts: [...capture.attempts, { ...attempt, n }].slice(-MAX_ATTEMPTS) };
}
