import { QUERY_FIELDS } from "../../capture/query/query-fields.js";

/** A query split into terms. A quoted text is part of one term. */
export function splitTerms(query: string): string[] {
  return query.match(/(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g) ?? [];
}

/** A term such as `type:email.*`. Other terms are words to find anywhere. */
export function isFieldTerm(term: string): boolean {
  return /^-?[A-Za-z][^\s:"]*:./.test(term);
}

/** A text that is being typed: its finished terms, and the term that goes on at its end; empty after a space. */
export function splitDraft(text: string): { finished: string[]; last: string } {
  const terms = splitTerms(text);
  const last = terms.at(-1) ?? "";
  const isFinished = last === "" || !text.endsWith(last) || (last.endsWith('"') && !hasOpenQuote(last));
  return isFinished ? { finished: terms, last: "" } : { finished: terms.slice(0, -1), last };
}

function hasOpenQuote(term: string): boolean {
  return term.replaceAll(/\\./gs, "").split('"').length % 2 === 0;
}

/**
 * Whether the term at the end of a draft may become another one: a field without its whole value, a quote without its
 * end, or the beginning of a field's name. To search for it would empty the list, or be an error.
 */
export function isUnfinished(last: string): boolean {
  if (last === "") return false;
  const body = last.replace(/^-/, "");
  if (isFieldTerm(last) || hasOpenQuote(last)) return true;
  return FIELD_STARTS.some((name) => name.startsWith(body) || (name.endsWith(".") && body.startsWith(name)));
}

/** The term as it is meant when the user ends it: with the end of its quote, and without a backslash before that. */
export function finishTerm(term: string): string {
  return hasOpenQuote(term) ? `${term.replace(/\\$/, "")}"` : term;
}

/** Beginnings of terms with a field, such as `type:`, `header.` and `data.`. */
const FIELD_STARTS = Object.keys(QUERY_FIELDS)
  .map((name) => name.replace(/<.*/, ""))
  .map((name) => (name.endsWith(".") ? name : `${name}:`));

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
  status: ["2xx", "4xx", "5xx", "none"],
  after: ["10m", "1h", "1d"],
  before: ["10m", "1h", "1d"],
  ms: [">100", ">500", ">1000"],
  larger: ["10kb", "100kb", "1mb"],
};

/** Completions of the last word in the box. */
export function completeTerm(word: string, eventTypes: readonly string[]): Completion[] {
  const [minus = "", body = ""] = /^(-?)(.*)$/s.exec(word)?.slice(1) ?? [];
  const [field = "", typed] = body.split(/:(.*)/s);
  if (typed === undefined) {
    return Object.entries(QUERY_FIELDS)
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
