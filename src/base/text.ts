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

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2 };

/** Reads an amount of bytes such as `500`, `64k`, `64kb` or `1.5mb`; undefined for any other text. */
export function readByteSize(text: string): number | undefined {
  const [, amount, unit = "b"] = /^(\d{1,12}(?:\.\d{1,3})?)(b|kb?|mb?)?$/i.exec(text) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1));
}
