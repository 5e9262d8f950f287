import { type PageBody, type Sorting, isCursorOfSorted, pageSorted } from "../api/page-rows.js";

/** True when one of the texts has the query in it, whatever the case and the accents. */
export function containsText(query: string, texts: readonly (string | null)[]): boolean {
  const wanted = foldText(query);
  return texts.some((text) => text !== null && foldText(text).includes(wanted));
}

/** True when a word of the text begins with this one, whatever the case, the accents and the separators of both. */
export function isLooselyIn(wanted: string, text: string): boolean {
  const [bare, words] = [wordsOf(wanted).join(""), wordsOf(text)];
  const from = (at: number): string => words.slice(at, at + bare.length).join("");
  return bare === "" || words.some((_, at) => from(at).startsWith(bare));
}

function wordsOf(text: string): string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A list that can be searched. */
export interface SearchedList<Row> {
  /** Name of the list with its other filters. */
  list: string;
  rows: readonly Row[];
  /** What the query is compared with. */
  textsOf: (row: Row) => readonly (string | null)[];
  /** Undefined or empty finds everything. */
  q: string | undefined;
  /** Whether the query is found in the texts of a row. @default containsText */
  isFound?: typeof containsText;
  /** The orders that the list has, the usual one first. */
  sortings: Readonly<Record<string, Sorting<Row>>>;
  /** The order that the caller asks for. @default the usual one */
  sort?: string | undefined;
  limit: number | undefined;
  cursor: string | undefined;
}

/**
 * One page of the rows that the query is found in or, if there are none, of those with a close spelling. A cursor
 * keeps the matching of its first page. Throws 400 `invalid_cursor`.
 */
export function pageSearched<Row>(input: SearchedList<Row>): PageBody<Row> {
  const { list, rows, textsOf, q = "", isFound = containsText, sortings, sort, limit, cursor } = input;
  const found = rows.filter((row) => isFound(q, textsOf(row)));
  const [exactList, closeList] = [`${list} with ${JSON.stringify(q)}`, `${list} close to ${JSON.stringify(q)}`];
  const isClose = cursor === undefined ? found.length === 0 : isCursorOfSorted(closeList, sortings, cursor);
  const matching = isClose ? rows.filter((row) => isSpelledAlike(q, textsOf(row))) : found;
  return pageSorted({ list: isClose ? closeList : exactList, rows: matching, sortings, sort, limit, cursor });
}

/** Most letters that a close spelling differs by: one of every three, two at most. */
const MAX_DISTANCE = 2;

/** True when the texts have a word like each one of the query. */
function isSpelledAlike(query: string, texts: readonly (string | null)[]): boolean {
  const [wanted, words] = [wordsOf(query), wordsOf(texts.join(" "))];
  const isClose = (one: string): boolean =>
    words.some((word) => distance(one, word) <= Math.min(MAX_DISTANCE, Math.floor(one.length / 3)));
  return wanted.length > 0 && wanted.every(isClose);
}

/** Letters to add, remove or replace (Levenshtein); more than {@link MAX_DISTANCE} when the lengths say so already. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return MAX_DISTANCE + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let index = 0; index < a.length; index += 1) {
    const next = [index + 1];
    for (let at = 1; at <= b.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (a[index] === b[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The text in lower case and without accents. */
function foldText(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
