import { QUERY_FIELDS } from "../../capture/query/query-fields.js";
import { ANSWERS } from "../../protocol/outcome.js";

/** A query split into terms. A quoted text is part of one term. */
export function splitTerms(query: string): string[] {
  return query.match(/(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g) ?? [];
}

/** A term such as `type:email.*`. Other terms are words to find anywhere. */
export function isFieldTerm(term: string): boolean {
  return /^-?[A-Za-z][^\s:"]*:./.test(term);
}

/** Chips for the terms that name a field, and the words that stay in the box. */
export function splitQuery(query: string): { chips: string[]; words: string } {
  const terms = splitTerms(query);
  return { chips: terms.filter(isFieldTerm), words: terms.filter((term) => !isFieldTerm(term)).join(" ") };
}

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
    return Object.entries({ ...QUERY_FIELDS, work: { meaning: "state, handler or error of work on it, by the inbox" } })
      .filter(([name]) => name.startsWith(field))
      .map(([name, { meaning }]) => {
        // `data.<path>` is offered as `data.`; the path is typed after it.
        const start = name.includes("<") ? name.slice(0, name.indexOf("<")) : `${name}:`;
        return { term: `${minus}${start}`, hint: meaning, isOpen: true };
      });
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
