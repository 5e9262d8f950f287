/** A text as one word of a POSIX shell. A text that is already one word is returned unchanged. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
