import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";

/** A moment as ISO 8601, or null. */
export function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** How long ago, in one unit: `12 s`, `3 h`. */
export function age(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`;
}
