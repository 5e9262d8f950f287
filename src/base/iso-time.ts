/** The last moment that a Date can be: a wait may be meant to have no end. */
const MAX_TIME_MS = 8.64e15;

/** A moment, in milliseconds since 1970, as ISO 8601; null for none. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null | undefined): string | null;
export function isoTime(ms: number | null | undefined): string | null {
  return ms === undefined || ms === null ? null : new Date(Math.min(ms, MAX_TIME_MS)).toISOString();
}
