/**
 * A byte, as in URLs or in strings of Python, and a character, as in strings of JSON, which may be in JSON again, three
 * times at most: texts may have any number of backslashes.
 */
const BYTE = /(?:%|\\{1,8}x)[\da-f]{2}/;
const CHARACTER = /\\{1,8}u(?:[\da-f]{4}|\{[\da-f]{1,6}\})/;
const ESCAPE = new RegExp(`${BYTE.source}|${CHARACTER.source}`, "i");
const BYTES = new RegExp(`(?:${BYTE.source})+`, "gi");
const CHARACTERS = new RegExp(CHARACTER.source, "gi");
/** Words with escapes between and within them, and what addresses have: neither the marks of URLs nor those of JSON. */
const RUN = new RegExp(String.raw`(?:${ESCAPE.source}|[\p{L}\p{M}\p{N}._-])+`, "giu");
/** An escape may itself be escaped, as where a URL is within another. */
const MAX_ROUNDS = 3;

/** Replaces each run of words that are percent-encoded or escaped with a backslash, by what it says. */
export function replaceEscaped(text: string, replace: (run: string, says: string) => string): string {
  if (!ESCAPE.test(text)) return text;
  return text.replaceAll(RUN, (run) => (ESCAPE.test(run) ? replace(run, unescapeRun(run)) : run));
}

/** The text without escapes. */
export function unescapeWords(text: string): string {
  return replaceEscaped(text, (_run, says) => says);
}

function unescapeRun(run: string): string {
  let says = run;
  for (let round = 0; round < MAX_ROUNDS && ESCAPE.test(says); round += 1) {
    const { length } = says;
    says = says
      .replaceAll(BYTES, (bytes, at: number) => textOfBytes(bytes, at + bytes.length === length))
      .replaceAll(CHARACTERS, textOfCharacter);
  }
  return says.normalize();
}

/** UTF-8, of which the last character may be cut at the end of a run, or else Latin-1. */
function textOfBytes(escapes: string, isAtEnd: boolean): string {
  const bytes = Buffer.from(escapes.replaceAll(/%|\\+x/gi, ""), "hex");
  const text = bytes.toString();
  const whole = isAtEnd && text.length > 1 ? text.replace(/\uFFFD$/, "") : text;
  return whole.includes("\uFFFD") ? bytes.toString("latin1") : whole;
}

/** As it is, where Unicode has no such character. */
function textOfCharacter(escape: string): string {
  const code = Number.parseInt(escape.replace(/^\\+u\{?/i, ""), 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
}
