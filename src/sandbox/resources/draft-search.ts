import { DAY, HOUR } from "../../base/duration.js";
import { containsText, isLooselyIn } from "./search-text.js";

/** What a search compares. */
export interface SearchedDraft {
  subject: string;
  sender: string;
  /** The beginning of the body, as text. */
  body: string;
  savedAtMs: number;
}

type Condition = (draft: SearchedDraft) => boolean;

/** The value of an operator may be missing. */
const TERM = /(?:(\w+):)?(?:"([^"]*)"|(\S*))/g;

/** Dropped when something else remains. */
const FILLERS: ReadonlySet<string> = new Set(["a", "an", "and", "for", "in", "of", "on", "or", "the", "to", "with"]);

const always: Condition = () => true;

/** The search of drafts. See docs/service.md#draft-search. `nowMs`: for `newer_than:` and `older_than:`. */
export function readDraftSearch(query: string, nowMs: number): Condition {
  const terms = [...query.matchAll(TERM)]
    .map(([whole, operator, phrase, word = ""]) => ({ whole, operator, phrase, word }))
    .filter(({ whole }) => whole !== "");
  const hasOthers = terms.some(({ word, operator }) => operator !== undefined || !FILLERS.has(word.toLowerCase()));
  const conditions = terms.map(({ whole, operator, phrase, word }): Condition => {
    if (operator !== undefined)
      return readOperator(operator.toLowerCase(), phrase ?? word, nowMs) ?? matchText(whole, phrase);
    if (phrase === undefined && hasOthers && FILLERS.has(word.toLowerCase())) return always;
    return matchText(word, phrase);
  });
  return (draft) => conditions.every((matches) => matches(draft));
}

/** Undefined for an unknown operator, which is searched as text. A value that is of no use narrows nothing. */
function readOperator(name: string, value: string, nowMs: number): Condition | undefined {
  const time = readDay(value);
  const age = readAge(value);
  switch (name) {
    case "subject":
      return (draft) => isLooselyIn(value, draft.subject);
    case "body":
      return (draft) => isLooselyIn(value, draft.body);
    case "from":
      return (draft) => isLooselyIn(value, draft.sender);
    case "to":
    case "cc":
    case "bcc":
      return () => value === "";
    case "after":
      return time === undefined ? always : (draft) => draft.savedAtMs >= time;
    case "before":
      return time === undefined ? always : (draft) => draft.savedAtMs < time;
    case "newer_than":
      return age === undefined ? always : (draft) => draft.savedAtMs >= nowMs - age;
    case "older_than":
      return age === undefined ? always : (draft) => draft.savedAtMs < nowMs - age;
    case "in":
    case "is":
      // The drafts folder always applies.
      return always;
    default:
      return undefined;
  }
}

function matchText(word: string, phrase: string | undefined): Condition {
  return ({ subject, sender, body }) =>
    [subject, sender, body].some((text) =>
      phrase === undefined ? isLooselyIn(word, text) : containsText(phrase, [text]),
    );
}

/** The beginning of a day in UTC, in milliseconds. */
function readDay(value: string): number | undefined {
  const [, year, month, day] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(value) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const isReal = date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
  return isReal ? date.getTime() : undefined;
}

/** Milliseconds of an age such as `12h`, `7d`, `2m` (months) and `1y`. */
function readAge(value: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([hdmy])$/.exec(value) ?? [];
  if (unit === undefined) return undefined;
  return Number(count) * ({ h: HOUR, d: DAY, m: 30 * DAY, y: 365 * DAY }[unit] ?? 0);
}
