const NUL = "\0";
const ESCAPE = "\u0001";
const ESCAPED_NUL = `${ESCAPE}\u0002`;
const ESCAPED_ESCAPE = `${ESCAPE}\u0003`;

/**
 * PostgreSQL refuses U+0000 in a text, and an event with one in its id must be stored and recognised as any other. Two
 * different texts are stored as different texts.
 */
export function toStoredText(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE).replaceAll(NUL, ESCAPED_NUL);
}

export function fromStoredText(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored;
  return stored.replaceAll(ESCAPED_NUL, NUL).replaceAll(ESCAPED_ESCAPE, ESCAPE);
}
