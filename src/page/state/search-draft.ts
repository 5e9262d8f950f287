import { QUERY_FIELDS } from "../../capture/query/query-fields.js";
import { isFieldTerm, splitTerms } from "./search-terms.js";

/** The text of the search box, cut where the user types in front of other terms. */
export interface SearchDraft {
  /** Ends with the term that is being typed. */
  head: string;
  /** The terms after it; empty unless a term was begun in front of them. */
  tail: string;
}

/** What a draft means. */
interface ReadDraft {
  /** Finished terms with a field, which become chips. */
  chips: string[];
  /** Plain words to search for. */
  words: string[];
  /** What stays in the box. */
  rest: SearchDraft;
}

/** The draft after an input that left this text and the caret there. */
export function typeInto(before: SearchDraft, text: string, caret: number): SearchDraft {
  const tail = text.slice(caret);
  if (tail === before.tail) return { head: text.slice(0, caret), tail };
  const length = before.head.length + before.tail.length;
  const start = caret - (text.length - length);
  const isInFront = (start <= 0 || /\s/.test(text[start - 1] ?? "")) && start < caret && tail.trim() !== "";
  return isInFront ? { head: text.slice(0, caret), tail } : { head: text, tail: "" };
}

/** The term that is being typed; empty after a space. */
export function typedTerm({ head }: SearchDraft): string {
  return splitDraft(head).last;
}

/** Terms that may become others wait in the box: to search for them would empty the list, or be an error. */
export function readDraft(draft: SearchDraft): ReadDraft {
  const { head, tail } = draft;
  const { finished, last } = splitDraft(head);
  // A letter in front of a word may begin a field, or belong to the word.
  if (joinsTail(draft) && !isUnfinished(last)) return readDraft({ head: head + tail, tail: "" });
  const after = splitDraft(tail);
  const chips = [...finished, ...after.finished].filter(isFieldTerm);
  const words = [...finished, ...(isUnfinished(last) ? [] : [last]), ...after.finished];
  if (!isOpenTerm(after.last)) words.push(after.last);
  return {
    chips,
    words: words.filter((term) => term !== "" && !isFieldTerm(term)),
    rest: withoutFields(draft),
  };
}

/** All terms of a draft that the user ends, with the ends of their quotes. */
export function endDraft(draft: SearchDraft): string[] {
  const { head, tail } = draft;
  const parts = joinsTail(draft) ? [head + tail] : [head, tail];
  return parts.flatMap(splitTerms).map(finishTerm);
}

/** The draft with this term instead of the typed one. */
export function replaceTyped({ head, tail }: SearchDraft, term: string): SearchDraft {
  return { head: `${head.slice(0, head.length - typedTerm({ head, tail }).length)}${term}`, tail };
}

/** The text of a draft, with a space between its parts where both have one to show. */
function withoutFields({ head, tail }: SearchDraft): SearchDraft {
  const before = splitDraft(head);
  const after = splitDraft(tail);
  const words = (terms: readonly string[]) => terms.filter((term) => !isFieldTerm(term));
  const isIn = (terms: readonly string[]) => terms.some(isFieldTerm);
  const headRest = isIn(before.finished) ? [...words(before.finished), before.last].join(" ").trim() : head;
  const tailRest = isIn(after.finished) ? [...words(after.finished), after.last].join(" ") : tail;
  if (headRest === "") return { head: "", tail: tailRest.trimStart() };
  const isSpaceLost = headRest !== head && tailRest !== "" && before.last === "" && !/^\s/.test(tailRest);
  return { head: isSpaceLost ? `${headRest} ` : headRest, tail: tailRest };
}

/** Whether the typed term and the first one after it are one word. */
function joinsTail({ head, tail }: SearchDraft): boolean {
  const { last } = splitDraft(head);
  return last !== "" && /^\S/.test(tail) && !isOpenTerm(last);
}

/** A text that is being typed: its finished terms, and the term that goes on at its end; empty after a space. */
function splitDraft(text: string): { finished: string[]; last: string } {
  const terms = splitTerms(text);
  const last = terms.at(-1) ?? "";
  const isFinished = last === "" || !text.endsWith(last) || (last.endsWith('"') && !hasOpenQuote(last));
  return isFinished ? { finished: terms, last: "" } : { finished: terms.slice(0, -1), last };
}

function hasOpenQuote(term: string): boolean {
  return term.replaceAll(/\\./gs, "").split('"').length % 2 === 0;
}

/** A field without its whole value, or a quote without its end. */
function isOpenTerm(term: string): boolean {
  return isFieldTerm(term) || hasOpenQuote(term);
}

/** Whether a term that goes on may become another one: an open one, or the beginning of a field's name or value. */
export function isUnfinished(last: string): boolean {
  if (last === "") return false;
  const body = last.replace(/^-/, "");
  // A field is read with the first character of its value; one that is not known waits for it too.
  if (isOpenTerm(last) || isFieldTerm(`${last}"`)) return true;
  return FIELD_STARTS.some((name) => name.startsWith(body) || (name.endsWith(".") && body.startsWith(name)));
}

/** The term as it is meant when the user ends it: with the end of its quote, and without a backslash before that. */
function finishTerm(term: string): string {
  return hasOpenQuote(term) ? `${term.replace(/\\$/, "")}"` : term;
}

/** Beginnings of terms with a field, such as `type:`, `header.` and `data.`. */
const FIELD_STARTS = Object.keys(QUERY_FIELDS)
  .map((name) => name.replace(/<.*/, ""))
  .map((name) => (name.endsWith(".") ? name : `${name}:`));
