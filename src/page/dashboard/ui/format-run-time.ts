import { formatMs } from "../../ui/format.js";

/** A time that a share of runs stayed under; null is more than the last bucket of the times. */
export function formatRunTime(ms: number | null): string {
  return ms === null ? "very long" : formatMs(ms);
}
