import { QUERY_FIELDS } from "../../capture/query/query-fields.js";
import { WORK_TERMS } from "../../dev/api/page-api.js";
import { ANSWERS } from "../../protocol/outcome.js";

/** A quoted text is part of one term. */
const TERM = /(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g;

/** A query split into terms. */
export function splitTerms(query: string): string[] {
  return query.match(TERM) ?? [];
}

const FIELDS: Readonly<Record<string, { meaning: string; values?: readonly string[] }>> = {
  ...QUERY_FIELDS,
  ...WORK_TERMS,
};

/** Beginnings of terms with a field, such as `type:`, `header.` and `data.`. */
const FIELD_STARTS = Object.keys(FIELDS).map((name) => (name.includes("<") ? name.replace(/<.*/, "") : `${name}:`));

/** The term that the caret stands in or behind, and the text around it. The term is empty in front of others. */
export function splitAtCaret(text: string, caret: number): { before: string; term: string; after: string } {
  const found = [...text.matchAll(TERM)].find(({ index, 0: term }) => index < caret && caret <= index + term.length);
  const [start, end] = found === undefined ? [caret, caret] : [found.index, found.index + found[0].length];
  return { before: text.slice(0, start), term: text.slice(start, end), after: text.slice(end) };
}

/** Whether a term that goes on is not searched for yet: a field, or what may become one. */
export function isUnfinished(term: string): boolean {
  const body = term.replace(/^-/, "");
  if (hasOpenQuote(body)) return true;
  if (body === "" || body.endsWith('"')) return false;
  return (
    /^[A-Za-z][^\s:"]*:/.test(body) ||
    FIELD_STARTS.some((s) => s.startsWith(body) || (s.endsWith(".") && body.startsWith(s)))
  );
}

/** The text with the end of a quote that has none. */
export const endQuote = (text: string): string => (hasOpenQuote(text) ? `${text}"` : text);

const hasOpenQuote = (text: string): boolean => text.replaceAll(/\\./gs, "").split('"').length % 2 === 0;

/** Adds the term, or removes it if it is already there. */
export function toggleTerm(query: string, term: string): string {
  const terms = splitTerms(query);
  return (terms.includes(term) ? terms.filter((other) => other !== term) : [...terms, term]).join(" ");
}

export interface Completion {
  /** Text of the whole term. */
  term: string;
  hint: string;
  /** Whether a value must still be typed. */
  isOpen: boolean;
}

/** Suggested values for fields that allow any value. */
const EXAMPLES: Record<string, readonly string[]> = {
  status: ["2xx", "4xx", "5xx", "none"],
  outcome: Object.keys(ANSWERS),
  after: ["10m", "1h", "1d"],
  before: ["10m", "1h", "1d"],
};

/** Completions of the last word in the box. */
export function completeTerm(word: string, eventTypes: readonly string[]): Completion[] {
  const [minus = "", body = ""] = /^(-?)(.*)$/s.exec(word)?.slice(1) ?? [];
  const [field = "", typed] = body.split(/:(.*)/s);
  if (typed === undefined) {
    const meanings = Object.values(FIELDS);
    return FIELD_STARTS.map((start, index) => ({ start, hint: meanings[index]?.meaning ?? "" }))
      .filter(({ start }) => start.startsWith(field))
      .map(({ start, hint }) => ({ term: `${minus}${start}`, hint, isOpen: true }));
  }
  const values = field === "type" ? typePatterns(eventTypes) : (FIELDS[field]?.values ?? EXAMPLES[field] ?? []);
  return values
    .filter((value) => value.includes(typed.toLowerCase()) && value !== typed)
    .map((value) => ({ term: `${minus}${field}:${value}`, hint: "", isOpen: false }));
}

function typePatterns(eventTypes: readonly string[]): string[] {
  const groups = new Set(eventTypes.map((type) => `${type.split(".")[0]}.*`));
  return [...groups, ...eventTypes];
}

/** A part of time, in milliseconds since 1970: `from` belongs to it, `to` does not. */
export interface TimeRange {
  from: number;
  to: number;
}

/** Whether the query has a time after which, or before which, deliveries are listed. */
export function hasTimeRange(query: string): boolean {
  return splitTerms(query).some(isTimeTerm);
}

/** The query for any time. */
export function withoutTimeRange(query: string): string {
  return splitTerms(query)
    .filter((term) => !isTimeTerm(term))
    .join(" ");
}

/** The query for this time only. */
export function withTimeRange(query: string, { from, to }: TimeRange): string {
  return `${withoutTimeRange(query)} after:${writeTime(from)} before:${writeTime(to)}`.trimStart();
}

function isTimeTerm(term: string): boolean {
  return /^(?:after|before):/.test(term);
}

/** Without milliseconds that are 0, since the term is read by people too. */
function writeTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
