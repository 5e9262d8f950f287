import { PigeonholeError } from "./error.js";

// Checks of one value. Each returns it, or throws an `invalid_option` that names the option and what it must be.

export function checkWholeNumber(option: string, value: number, range: { min: number; max?: number }): number {
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (Number.isInteger(value) && value >= range.min && value <= max) return value;
  const wanted = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${max}`;
  throw new PigeonholeError("invalid_option", `${option} must be a whole number ${wanted}, got ${String(value)}.`);
}

export function checkNumber(option: string, value: number, { min, max }: { min: number; max: number }): number {
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be a number from ${min} to ${max}, got ${String(value)}.`,
  );
}

export function checkChoice<const Value extends string>(
  option: string,
  given: string,
  values: readonly Value[],
): Value {
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  throw new PigeonholeError("invalid_option", `${option} must be ${listOf(values)}, got "${given}".`);
}

export function checkTexts(option: string, list: readonly string[]): readonly string[] {
  if (Array.isArray(list) && list.every((entry) => typeof entry === "string")) return list;
  throw new PigeonholeError("invalid_option", `${option} must be a list of strings.`);
}

/** The values in quotes, as in a sentence. */
function listOf(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
}
