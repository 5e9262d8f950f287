/** Fields of the search language. A test compares them with the language. */
const FIELDS = "type|status|outcome|verdict|is|has|source|tag|after|before|larger|smaller|ms|id";

/** `-status:2xx` negates a term of a search. The option parser would read it as an option. */
const NEGATED = new RegExp(`^-(?:${FIELDS}|header\\.[^:]+|data\\.[^:]+):`);

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
