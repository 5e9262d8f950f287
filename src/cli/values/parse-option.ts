import { HOUR, SECOND, readDuration } from "../../base/duration.js";

/** Reads a whole number in a range; for `parse` of an option. */
export function parseWholeNumber({ min, max }: { min: number; max?: number }): (text: string) => number {
  const wanted = max === undefined ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)) return value;
    throw new Error(`It must be ${wanted}.`);
  };
}

/** A port to listen on; 0 lets the system choose. */
export const parsePort = parseWholeNumber({ min: 0, max: 65_535 });

/** A number above 0, optionally followed by `x`: `60`, `10x`, `0.5x`. */
export function parseSpeed(text: string): number {
  const value = Number(text.replace(/x$/i, ""));
  if (/^\d+(?:\.\d+)?x?$/i.test(text) && value > 0) return value;
  throw new Error("It must be a number above 0, such as 10x.");
}

/** Reads `Name: value`, as curl writes headers. */
export function parseHeader(text: string): [name: string, value: string] {
  const [, name, value] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new Error('It must be a header such as "X-Svc-Signature: t=1,v1=…".');
}

/** A change of one field of a body: its dotted path, such as `data.recipient`, and the new value. */
export type FieldChange = readonly [path: string, value: unknown];

/** Reads `path=value`. The value is JSON if it can be parsed, and text otherwise: `data.n=3`, `data.to=a@b.c`. */
export function parseFieldChange(text: string): FieldChange {
  const equals = text.indexOf("=");
  if (equals < 1) throw new Error("It must be path=value, such as data.recipient=a@b.c.");
  const value = text.slice(equals + 1);
  try {
    return [text.slice(0, equals), JSON.parse(value) as unknown];
  } catch {
    return [text.slice(0, equals), value];
  }
}

/** Parses a duration such as `500ms`, `30s`, `10m` or `1h30m` into whole milliseconds. */
export function parseDuration(text: string): number {
  try {
    return Math.round(readDuration(text));
  } catch {
    throw new Error("It must be a duration such as 500ms, 30s, 10m, 1h30m or 7d.");
  }
}

/** Parses the time from one look to the next: from a second to an hour. */
export function parseInterval(text: string): number {
  if (/^\d+$/.test(text)) throw new Error(`It has no unit: write ${text}s.`);
  const ms = parseDuration(text);
  if (ms >= SECOND && ms <= HOUR) return ms;
  throw new Error("It must be a duration from 1s to 1h.");
}

/** Parses a time into milliseconds since 1970: ISO 8601, Unix seconds, or a duration from now such as `-10m`. */
export function parseMoment(text: string): number {
  const [, sign, length] = /^([+-])(\w.*)$/.exec(text) ?? [];
  if (length !== undefined) return Date.now() + (sign === "-" ? -1 : 1) * parseDuration(length);
  if (/^\d{1,11}$/.test(text)) return Number(text) * SECOND;
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new Error("It must be ISO 8601, Unix seconds, or a duration from now such as -10m.");
}
