import { PigeonholeError } from "./error.js";

/** Whether a body, a text or JSON mentions one address. */
export type MentionsEmail = (content: Uint8Array | string) => boolean;

/** What an address may be: no quoted local part, no blank, and no sign that JSON or HTML writes in another way. */
const ADDRESS = /^[^\s@"\\<>()[\],;:]{1,64}@[^\s@"\\<>()[\],;:]{1,255}$/u;

/** A letter or a sign right before an address makes it the end of a longer one, `joann@x.de` for `ann@x.de`. */
const NOT_BEFORE = String.raw`(?<![\p{L}\p{N}_+-]|[\p{L}\p{N}_+-]\.)`;
/** And right behind it the beginning of a longer one, `ann@x.de.com`. The point that ends a sentence does not. */
const NOT_BEHIND = String.raw`(?!-*[\p{L}\p{N}]|\.[\p{L}\p{N}])`;

/** An escape of a string of JSON. */
const ESCAPE = /\\(?:u([\da-fA-F]{4})|(["\\/bfnrt]))/g;
/** How often JSON may be inside a string of JSON. Bounds the time that a text made of escapes of escapes takes. */
const MAX_LEVELS = 8;

/**
 * Looks for the address as a whole, whatever its case: in the text as it is, percent-encoded as in a link, and escaped
 * as in JSON, also in JSON that is itself a string of JSON. Throws `invalid_argument` for a text that is not one
 * address; the message does not contain it.
 */
export function createMentionsEmail(email: string): MentionsEmail {
  if (typeof email !== "string" || !ADDRESS.test(email)) {
    throw new PigeonholeError("invalid_argument", "email must be one address, such as ann@example.com.");
  }
  const literal = email.replaceAll(/[^\p{L}\p{N}@]/gu, (sign) => String.raw`\u{${sign.codePointAt(0)?.toString(16)}}`);
  const bare = new RegExp(literal, "iu");
  const whole = new RegExp(NOT_BEFORE + literal + NOT_BEHIND, "iu");
  const isIn = (text: string, address = whole): boolean =>
    address.test(text) || (text.includes("%") && address.test(decodePercent(text)));
  /** Escapes are decoded only where the address may be, since that takes most of the time. */
  const mayBeIn = (text: string): boolean => /\\[u/]/.test(text) || isIn(text, bare);

  return (content) => {
    let text = typeof content === "string" ? content : new TextDecoder().decode(content);
    if (!mayBeIn(text)) return false;
    for (let level = 0; level < MAX_LEVELS; level += 1) {
      const decoded = decodeEscapes(text);
      if (decoded === text) return isIn(text);
      // A letter behind a backslash of JSON is not the address's: "\nora@x.de" mentions ora@x.de, not nora@x.de.
      if (isIn(text) && (level > 0 || !isJson(text))) return true;
      text = decoded;
    }
    return isIn(text);
  };
}

/** What is not valid UTF-8 in percent signs stays as it is. */
function decodePercent(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}

/** Undoes one level of escapes; those of control characters become a blank. */
function decodeEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(ESCAPE, (_escape, code: string | undefined, sign: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return /[a-z]/.test(sign) ? " " : sign;
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
