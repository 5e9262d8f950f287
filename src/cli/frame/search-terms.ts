import { QUERY_FIELD_NAMES } from "../../capture/query/query-field-names.js";

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
