import { SECOND, readDuration } from "../base/duration.js";
import { errorMessage } from "../base/error-text.js";
import { given, wholeNumber } from "../base/options.js";
import type { Filter } from "../store/filters.js";

export type Filters = Readonly<Record<string, Filter>>;

/** `Time` for the filters whose value is a time, `Text` for the others. */
type ByKind<Known extends Filters, Text, Time> = {
  [Name in keyof Known]: Known[Name] extends { isTime: true } ? Time : Text;
};

/** The values of filters, as a store takes them. */
type ValuesOf<Known extends Filters> = Partial<ByKind<Known, string | undefined, number | undefined>>;

const readText = (text: string): string => text;

/** An option of a command. */
export interface FilterOption<Value> {
  value: string;
  summary: string;
  parse: (text: string) => Value;
}

/** The options of commands for filters. */
export function filterOptions<const Known extends Filters>(filters: Known) {
  const options = Object.entries(filters).map(([name, { value, summary, isTime }]) => {
    return [name, { value, summary, parse: isTime ? readPastMoment : readText }] as const;
  });
  return Object.fromEntries(options) as ByKind<Known, FilterOption<string>, FilterOption<number>>;
}

const CHECKS = { text: given<string>(), time: wholeNumber({ min: 0 }) } as const;

/** The checks of filters that an app gives: times in milliseconds since 1970. */
export function filterChecks<const Known extends Filters>(filters: Known) {
  const checks = Object.entries(filters).map(([name, { isTime }]) => [name, CHECKS[isTime ? "time" : "text"]] as const);
  return Object.fromEntries(checks) as unknown as ByKind<Known, typeof CHECKS.text, typeof CHECKS.time>;
}

/** The filters that a page gives as texts. `refuse` makes the error for a text that is not what it must be. */
export function readFilters<const Known extends Filters>(
  filters: Known,
  textOf: (name: string) => string | undefined,
  refuse: (name: string, why: string) => Error,
): ValuesOf<Known> {
  const values: Record<string, string | number> = {};
  for (const [name, { isTime }] of Object.entries(filters)) {
    const text = textOf(name);
    if (text === undefined) continue;
    try {
      values[name] = isTime ? readPastMoment(text) : text;
    } catch (error) {
      throw refuse(name, errorMessage(error));
    }
  }
  return values as ValuesOf<Known>;
}

/** Of the options of a command, the values of filters; undefined where there is none. */
export function pickFilters<const Known extends Filters>(filters: Known, from: ValuesOf<Known>): ValuesOf<Known> {
  return Object.fromEntries(Object.keys(filters).map((name) => [name, from[name]])) as ValuesOf<Known>;
}

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
