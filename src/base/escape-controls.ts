/** Characters that move a cursor, colour, hide or turn round text: C0, DEL, C1, line separators and the marks of direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu;

/** Text from outside, made safe for a terminal: control characters are spelled out, such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(CONTROLS, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}
