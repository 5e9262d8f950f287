import { SECOND } from "../../base/duration.js";
import { readDuration } from "../../base/duration-text.js";

/** Parses a duration such as `500ms`, `30s`, `10m` or `1h30m` into whole milliseconds. */
export function duration(text: string): number {
  try {
    return Math.round(readDuration(text));
  } catch {
    throw new Error("It must be a duration such as 500ms, 30s, 10m, 1h30m or 7d.");
  }
}

/** Parses a time into milliseconds since 1970: ISO 8601, Unix seconds, or a duration from now such as `-10m`. */
export function moment(text: string): number {
  const [, sign, length] = /^([+-])(\w.*)$/.exec(text) ?? [];
  if (length !== undefined) return Date.now() + (sign === "-" ? -1 : 1) * duration(length);
  if (/^\d{1,11}$/.test(text)) return Number(text) * SECOND;
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new Error("It must be ISO 8601, Unix seconds, or a duration from now such as -10m.");
}
