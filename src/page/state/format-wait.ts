import { HOUR, MINUTE, SECOND } from "../../base/duration.js";

/** `45 s`, `5 min`, `10 h`: a wait, rounded. */
export function formatWait(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  return ms < 90 * MINUTE ? `${Math.round(ms / MINUTE)} min` : `${Math.round(ms / HOUR)} h`;
}
