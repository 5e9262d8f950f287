import { PigeonholeError } from "./error.js";

/** Whether a body, a text or JSON mentions one address. */
export type MentionsEmail = (content: Uint8Array | string) => boolean;

/** What an address may be: no quoted local part, no blank, and no sign that JSON or HTML writes in another way. */
const ADDRESS = /^[^\s@"\\<>()[\],;:]{1,64}@[^\s@"\\<>()[\],;:]{1,255}$/u;

/** A letter or a sign right before an address makes it the end of a longer one, `joann@x.de` for `ann@x.de`. */
const NOT_BEFORE = String.raw`(?<![\p{L}\p{N}_+-]|[\p{L}\p{N}_+-]\.)`;
/** And right behind it the beginning of a longer one, `ann@x.de.com`. The point that ends a sentence does not. */
const NOT_BEHIND = String.raw`(?!-*[\p{L}\p{N}]|\.[\p{L}\p{N}])`;

/**
 * Looks for the address as a whole, whatever its case: in the text as it is, percent-encoded as in a link, and, when it
 * is JSON, in its strings and names, however they are escaped. Throws `invalid_argument` for a text that is not one
 * address; the message does not contain it.
 */
export function createMentionsEmail(email: string): MentionsEmail {
  if (typeof email !== "string" || !ADDRESS.test(email)) {
    throw new PigeonholeError("invalid_argument", "email must be one address, such as ann@example.com.");
  }
  const literal = email.replaceAll(/[^\p{L}\p{N}@]/gu, (sign) => String.raw`\u{${sign.codePointAt(0)?.toString(16)}}`);
  const bare = new RegExp(literal, "iu");
  const whole = new RegExp(NOT_BEFORE + literal + NOT_BEHIND, "iu");

  const isIn = (text: string): boolean => whole.test(text) || (text.includes("%") && whole.test(decodePercent(text)));
  /** JSON is parsed only when an escape may hide the address, or what precedes it is perhaps part of an escape. */
  const mayHide = (text: string): boolean => bare.test(text) || /%|\\[u/]/.test(text);

  return (content) => {
    const text = typeof content === "string" ? content : new TextDecoder().decode(content);
    if (isIn(text)) return true;
    if (!mayHide(text)) return false;
    return stringsOf(text).some(isIn);
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

/** Strings and names of a JSON text; none when it is not JSON. Without recursion, since the nesting has no limit. */
function stringsOf(text: string): string[] {
  const found: string[] = [];
  const open = [parse(text)];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") found.push(value);
    if (typeof value !== "object" || value === null) continue;
    for (const [name, child] of Object.entries(value)) open.push(name, child);
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
