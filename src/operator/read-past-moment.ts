import { SECOND, readDuration } from "../base/duration.js";

/** Unix seconds have 10 digits since 2001; a shorter number is an age whose unit was forgotten. */
const MIN_UNIX_DIGITS = 10;

/** Reads a time in the past, in milliseconds since 1970: an age such as `1h`, ISO 8601, or Unix seconds. */
export function readPastMoment(text: string): number {
  if (/^\d+$/.test(text)) {
    if (text.length < MIN_UNIX_DIGITS) {
      throw new Error(`It has no unit: write ${["m", "h", "d"].map((unit) => text + unit).join(" or ")}.`);
    }
    if (text.length <= MIN_UNIX_DIGITS + 1) return Number(text) * SECOND;
  }
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  try {
    return Date.now() - Math.round(readDuration(text));
  } catch {
    throw new Error("It must be an age such as 1h or 7d, ISO 8601, or Unix seconds.");
  }
}
