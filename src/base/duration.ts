import { PigeonholeError } from "./error.js";

/** Durations in milliseconds, so that a time reads as `8 * MINUTE`. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

type OneDuration = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** A duration as options take it: milliseconds, or a text such as `"500ms"`, `"90s"` or `"1h30m"`. */
export type Duration = number | OneDuration | `${OneDuration}${OneDuration}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/**
 * Reads a duration: a number of milliseconds, or a text such as `90s`, `1h30m`, `250ms`, `2d`. Throws
 * `invalid_argument` for anything else.
 */
export function readDuration(value: number | string): number {
  if (typeof value === "number" && value >= 0 && Number.isFinite(value)) return value;
  if (typeof value === "string" && /^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h|d))+$/.test(value)) {
    return [...value.matchAll(/([\d.]+)([a-z]+)/g)].reduce(
      (total, [, amount, unit]) => total + Number(amount) * (UNITS[unit ?? ""] ?? 0),
      0,
    );
  }
  throw new PigeonholeError(
    "invalid_argument",
    `${JSON.stringify(value)} is not a duration. Write milliseconds, or a text such as "90s" or "1h30m".`,
  );
}
