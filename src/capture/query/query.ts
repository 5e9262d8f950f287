import type { Capture } from "../model/capture.js";
import { readMatcher, type Matcher, QUERY_FIELDS } from "./query-fields.js";
import { PigeonholeError } from "../../base/error.js";

/* Without node: imports, since the page uses it too. */

/** One term of a search: `type:email.*`, `-is:replay`, or a word to search for anywhere. */
export interface QueryTerm {
  /** Name of the field, or null for free text. */
  field: string | null;
  value: string;
  /** Whether matching captures are excluded. */
  negated: boolean;
  /** The term as text that parses to the same term. */
  text: string;
}

/** A search over captures. All of its terms must match. */
export interface Query {
  terms: readonly QueryTerm[];
  /** Terms of fields that only the caller knows; {@link matchesQuery} leaves them out. */
  others: readonly QueryTerm[];
  /** Of each term in turn. */
  checks: readonly CheckedTerm[];
}

interface CheckedTerm {
  negated: boolean;
  matches: Matcher;
}

/** A term: an optional minus, an optional `field:`, and a word or a quoted text. */
const TERM = /(-?)(?:([A-Za-z][^\s:"]*):)?(?:"((?:[^"\\]|\\.)*)"|([^\s"]+|"))?/y;

/**
 * Reads a search such as `type:email.* status:5xx -is:replay "order 1042"`. Terms are joined by and; fields are those
 * of `QUERY_FIELDS`, and `others`. Throws an `invalid_query` that names the term and what is allowed.
 */
export function parseQuery(text: string, others: readonly string[] = []): Query {
  const terms: QueryTerm[] = [];
  for (let at = skipSpace(text, 0); at < text.length;) {
    TERM.lastIndex = at;
    const [source = "", minus, field, quoted, word] = TERM.exec(text) ?? [];
    if (word === '"' || source === "")
      throw fail(text.slice(at), 'has a quote without its end; write \\" inside quotes');
    const value = quoted === undefined ? word : quoted.replaceAll(/\\(.)/g, "$1");
    if (value === undefined || value === "") {
      throw fail(source, field === undefined ? "is empty" : `has no value; write ${field}:value`);
    }
    terms.push(makeTerm({ field: field ?? null, value, negated: minus === "-" }));
    at = skipSpace(text, at + source.length);
  }
  const isOther = ({ field }: QueryTerm): boolean => field !== null && others.includes(field);
  const own = terms.filter((term) => !isOther(term));
  return { terms: own, others: terms.filter(isOther), checks: own.map(checkTerm) };
}

/** A term from its parts, with quotes if they are needed. */
export function makeTerm({ field, value, negated }: Omit<QueryTerm, "text">): QueryTerm {
  const needsQuotes = /[\s"\\]/.test(value) || value === "" || (field === null && /^-|^[A-Za-z][^\s:"]*:/.test(value));
  const spelled = needsQuotes ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : value;
  return { field, value, negated, text: `${negated ? "-" : ""}${field === null ? "" : `${field}:`}${spelled}` };
}

/** Whether a capture matches the query. `after:10m` counts back from `nowMs`. */
export function matchesQuery({ checks }: Query, capture: Capture, nowMs: number = Date.now()): boolean {
  return checks.every(({ matches, negated }) => matches(capture, nowMs) !== negated);
}

function checkTerm({ field, value, negated, text }: QueryTerm): CheckedTerm {
  const read = readMatcher(field, value);
  if (read.ok) return { negated, matches: read.matches };
  throw fail(text, read.problem);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

function fail(term: string, problem: string): PigeonholeError {
  const shown = term.length > 60 ? `${term.slice(0, 59)}…` : term;
  return new PigeonholeError("invalid_query", `The term ${shown} ${problem}.`);
}

export { QUERY_FIELDS };
