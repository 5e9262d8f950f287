import { PigeonholeError } from "./error.js";

/** Returns `value`, or throws `invalid_option` naming the option when it is no whole number in the range. */
export function checkWholeNumber(option: string, value: number, range: { min: number; max?: number }): number {
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (Number.isInteger(value) && value >= range.min && value <= max) return value;
  const wanted = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${max}`;
  throw new PigeonholeError("invalid_option", `${option} must be a whole number ${wanted}, got ${String(value)}.`);
}
