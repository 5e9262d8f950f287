import { HOUR, SECOND, readDuration } from "../../base/duration.js";
import { EVENT_TYPES } from "../../protocol/event-types.js";
import { nearestWord } from "../../base/nearest-word.js";
import { readErrorGroupId } from "../../store/error-group-id.js";
import { checkPattern, typesMatching } from "../../protocol/event-pattern.js";
import { QUERY_FIELD_NAMES } from "../../capture/query/query-field-names.js";

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

/** A clock of the sandbox: `real`, `advanceable`, `manual`, or its speed, such as `10x` or `0.5x`. */
export function parseClock(text: string): "real" | "advanceable" | "manual" | { speed: number } {
  if (text === "real" || text === "advanceable" || text === "manual") return text;
  const speed = Number(text.replace(/x$/i, ""));
  if (/^\d+(?:\.\d+)?x$/i.test(text) && speed > 0) return { speed };
  throw new Error("It must be advanceable, manual, or a speed above 0, such as 10x.");
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

/** Reads a whole event type, also one that this version does not know; for `parse` of an option. */
export function parseWholeType(text: string): string {
  if (!text.includes("*")) return text;
  const parts = text.split("*").map((part) => part.replaceAll(/\W/g, "\\$&"));
  const matching = EVENT_TYPES.filter((type) => new RegExp(`^${parts.join(".*")}$`).test(type));
  const meant = matching.length === 0 ? "such as email.received" : `one of ${matching.join(", ")}`;
  throw new Error(`A pattern is not read here. Give one whole type, ${meant}.`);
}

/** The message that there is no such event type, and which one was probably meant. */
export function noSuchEventType(text: string): string {
  const near = nearestWord(text, EVENT_TYPES);
  return `There is no event type "${text}"${near === undefined ? "" : ` (Did you mean ${near}?)`}.`;
}

/** Checks the id of a group of errors. */
export function parseErrorGroup(id: string): string {
  if (readErrorGroupId(id) !== undefined) return id;
  const hint = id.startsWith("group_")
    ? " An id that begins with group_ is a stand-in of the dashboard, which only the dashboard can read."
    : "";
  throw new Error(`It must be the id of a group, as "pigeonhole inbox errors" lists it.${hint}`);
}

/** An endpoint to create in the sandbox. */
export interface WantedEndpoint {
  url: string;
  /** Whole names; undefined for the service's default set. */
  eventTypes: string[] | undefined;
}

/** Reads `<url>`, `<url>=email.bounced,form.*` or `<url>=all`. */
export function wantedEndpoint(text: string): WantedEndpoint {
  const [, url = "", types] = /^(.*?)(?:=((?:[\w.*]+,)*[\w.*]+))?$/s.exec(text) ?? [];
  if (!URL.canParse(url)) throw new Error("It must be a URL, optionally followed by =type,type.");
  return { url, eventTypes: types === undefined ? undefined : expandTypes(types) };
}

/** Reads `email.bounced,form.*` or `all` as whole names. Throws for a group that has none. */
export function expandTypes(types: string): string[] {
  return types.split(",").flatMap(expandType);
}

function expandType(type: string): string[] {
  const found = typesMatching(type);
  if (found.length > 0) return found;
  // The sandbox decides about a whole name: it may know newer types.
  if (!type.includes("*")) return [type];
  checkPattern(type, "types");
  throw new Error(`No event type begins with ${type.slice(0, -1)}`);
}

/** `-status:2xx` negates a term of a search. The option parser would read it as an option. */
const NEGATED = new RegExp(`^-(?:${QUERY_FIELD_NAMES.join("|")}|header\\.[^:]+|data\\.[^:]+):`);

/** A character that no argument of a process can contain. */
const MARK = "\0";

/** Marks negated terms, so that they pass the option parser. */
export function protectSearchTerms(argv: readonly string[]): string[] {
  return argv.map((word) => (NEGATED.test(word) ? MARK + word : word));
}

/** Removes the mark; for `parse` of an argument that can be a search. */
export function searchTerm(word: string): string {
  return word.startsWith(MARK) ? word.slice(MARK.length) : word;
}
