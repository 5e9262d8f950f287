const BACKSLASH = 0x5c;

/**
 * Index of the character after the string that begins at `start`; undefined if it has no end. Without a regular
 * expression, which overflows the stack on a string of megabytes.
 */
export function stringEnd(text: string, start: number): number | undefined {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? undefined : end + 1;
}

/** Whether the character has an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
