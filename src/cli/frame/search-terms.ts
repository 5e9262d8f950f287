/** Fields of the search language; a test holds them against the language itself. */
const FIELDS = "type|status|verdict|is|has|source|tag|after|before|larger|smaller|ms|id";

/** `-status:2xx` negates a term of a search; a parser of options would take it for one. */
const NEGATED = new RegExp(`^-(?:${FIELDS}|header\\.[^:]+|data\\.[^:]+):`);

/** No argument of a process can hold it. */
const MARK = "\0";

/** Marks negated terms, so that they pass the parser of options. */
export function protectSearchTerms(argv: readonly string[]): string[] {
  return argv.map((word) => (NEGATED.test(word) ? MARK + word : word));
}

/** Takes the mark away again; for `parse` of an argument that can be a search. */
export function searchTerm(word: string): string {
  return word.startsWith(MARK) ? word.slice(MARK.length) : word;
}
