/** Index of the first character from there that is no white space of JSON. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** Space, tab, line feed, carriage return. */
function isSpace(code: number): boolean {
  return code <= 0x20 && (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d);
}
