/**
 * Characters that move the cursor, or colour, hide or reverse text: C0, DEL, C1, line separators and direction marks.
 */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu;

/** Untrusted text, made safe for a terminal: control characters are escaped, such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(CONTROLS, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}

/** The same of a text of several lines, whose ends are kept. */
export function escapeControlsInLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** A text as one word of a POSIX shell. A text that is already one word is returned unchanged. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
