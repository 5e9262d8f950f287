import { QUERY_FIELDS } from "../../capture/query/query-fields.js";
import { ANSWERS } from "../../protocol/outcome.js";

/** A query split into terms. A quoted text is part of one term. */
export function splitTerms(query: string): string[] {
  return query.match(/(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g) ?? [];
}

/** Beginnings of terms with a field, such as `type:`, `header.` and `data.`. */
const FIELD_STARTS = [...Object.keys(QUERY_FIELDS), "work"].map((name) =>
  name.includes("<") ? name.replace(/<.*/, "") : `${name}:`,
);

/** The term at the end of a text, which goes on; empty after a space. */
export function typedTerm(text: string): string {
  const last = splitTerms(text).at(-1) ?? "";
  return text.endsWith(last) ? last : "";
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
  work: ["dead", "parked", "pending", "leased", "done"],
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
    const meanings = Object.values({ ...QUERY_FIELDS, work: { meaning: "state, handler or error of work on it" } });
    return FIELD_STARTS.map((start, index) => ({ start, hint: meanings[index]?.meaning ?? "" }))
      .filter(({ start }) => start.startsWith(field))
      .map(({ start, hint }) => ({ term: `${minus}${start}`, hint, isOpen: true }));
  }
  const values = field === "type" ? typePatterns(eventTypes) : (QUERY_FIELDS[field]?.values ?? EXAMPLES[field] ?? []);
  return values
    .filter((value) => value.includes(typed.toLowerCase()) && value !== typed)
    .map((value) => ({ term: `${minus}${field}:${value}`, hint: "", isOpen: false }));
}

function typePatterns(eventTypes: readonly string[]): string[] {
  const groups = new Set(eventTypes.map((type) => `${type.split(".")[0]}.*`));
  return [...groups, ...eventTypes];
}
