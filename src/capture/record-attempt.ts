import type { Capture, CaptureAttempt } from "./capture.js";

/* Without node: imports, since the page uses it too. */

/** Attempts kept with a capture; a bulk replay must not make its file grow without end. */
const MOST_ATTEMPTS = 50;

/** The capture with one more attempt, numbered after the last; of very many only the latest are kept. */
export function recordAttempt(capture: Capture, attempt: Omit<CaptureAttempt, "n">): Capture {
  const n = (capture.attempts.at(-1)?.n ?? 0) + 1;
  return { ...capture, attempts: [...capture.attempts, { ...attempt, n }].slice(-MOST_ATTEMPTS) };
}
