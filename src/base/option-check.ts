import { PigeonholeError } from "./error.js";

/** Returns `value`, or throws `invalid_option` naming the option when it is no whole number in the range. */
export function checkWholeNumber(option: string, value: number, range: { min: number; max?: number }): number {
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (Number.isInteger(value) && value >= range.min && value <= max) return value;
  const wanted = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${max}`;
  throw new PigeonholeError("invalid_option", `${option} must be a whole number ${wanted}, got ${String(value)}.`);
}

/** The names of all options of an interface; the compiler keeps it whole. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>;

/**
 * Throws `invalid_option` for an option that does not exist, which would be ignored otherwise, and for what is no object.
 *
 * @param place Who takes the options, such as `createClient`; it begins the message.
 */
export function checkOptionNames<Options extends object>(
  place: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  if (typeof options !== "object" || options === null) {
    throw new PigeonholeError(
      "invalid_option",
      `${place} takes an object with options, got ${options === null ? "null" : typeof options}.`,
    );
  }
  // Not by Object.keys, which would allocate: some of these calls are made for every delivery.
  for (const name in options) {
    if (Object.hasOwn(names, name) || !Object.hasOwn(options, name)) continue;
    const known = Object.keys(names).toSorted().join(", ");
    throw new PigeonholeError("invalid_option", `${place} has no option "${name}". Its options: ${known}.`);
  }
}
