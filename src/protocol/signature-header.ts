import { MAX_SIGNATURE_HEADER_LENGTH } from "./limits.js";
import { type SignatureEncoding, TIMESTAMP_KEYS } from "./signature-assumptions.js";
import { decodeSignature } from "./signature-encoding.js";

/** What is wrong with the text of a signature header. */
export type SignatureHeaderError =
  | "empty"
  | "too_long"
  /** A time and nothing else. */
  | "no_signature"
  /** No value is exactly 32 bytes in one of the encodings. */
  | "undecodable_signature";

/** The content of a signature header. */
export interface SignatureHeader {
  ok: true;
  /** Different texts of `t=`, not yet read; one where the header was sent twice with the same time. */
  timestamps: readonly string[];
  /** One or more values of 32 bytes. */
  signatures: readonly Buffer[];
}

export interface UnreadableSignatureHeader {
  ok: false;
  error: SignatureHeaderError;
}

/** A piece of a signature header: `key=value`, or a value alone. */
export interface HeaderPart {
  /** In lower case; undefined for a value alone. */
  key: string | undefined;
  value: string;
}

/** The limit keeps a padded base64 value from being read as a key. */
const MAX_KEY_LENGTH = 32;
const SEPARATOR = /[\s,;&"]/g;

/** Splits a header at commas, semicolons, ampersands and spaces; quotation marks around a value are left out. */
export function headerParts(text: string): HeaderPart[] {
  const parts: HeaderPart[] = [];
  for (let start = 0; start < text.length;) {
    const end = nextSeparator(text, start);
    const equals = text.indexOf("=", start);
    if (equals > start && equals < end && isKey(text, start, equals)) {
      const key = text.slice(start, equals).toLowerCase();
      const from = text[equals + 1] === '"' ? equals + 2 : equals + 1;
      const to = from > end ? nextSeparator(text, from) : end;
      parts.push({ key, value: text.slice(from, to) });
      start = to + 1;
    } else {
      if (end > start) parts.push({ key: undefined, value: text.slice(start, end) });
      start = end + 1;
    }
  }
  return parts;
}

/** Letters, digits, "_" and "-". Each delivery comes here, and a regular expression takes twice as long. */
function isKey(text: string, start: number, end: number): boolean {
  if (end - start > MAX_KEY_LENGTH) return false;
  for (let i = start; i < end; i += 1) {
    const code = text.charCodeAt(i);
    const isDigit = code >= 48 && code <= 57;
    const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    if (!isDigit && !isLetter && code !== 45 && code !== 95) return false;
  }
  return true;
}

function nextSeparator(text: string, from: number): number {
  SEPARATOR.lastIndex = from;
  return SEPARATOR.test(text) ? SEPARATOR.lastIndex - 1 : text.length;
}

/**
 * Reads every value that can be a signature, under any key, and every `t=`. Other parts that cannot be read are
 * skipped: the MAC decides, so that an extra part does no harm, while a refused layout loses events.
 */
export function readSignatureHeader(
  text: string,
  encodings: readonly SignatureEncoding[],
): SignatureHeader | UnreadableSignatureHeader {
  if (text.length > MAX_SIGNATURE_HEADER_LENGTH) return unreadable("too_long");
  const timestamps: string[] = [];
  const signatures: Buffer[] = [];
  let others = 0;
  for (const { key, value } of headerParts(text)) {
    if (key !== undefined && TIMESTAMP_KEYS.has(key)) {
      if (!timestamps.includes(value)) timestamps.push(value);
      continue;
    }
    const signature = decodeSignature(value, encodings);
    if (signature === undefined) others += 1;
    else signatures.push(signature);
  }
  if (signatures.length > 0) return { ok: true, timestamps, signatures };
  if (others > 0) return unreadable("undecodable_signature");
  return unreadable(timestamps.length > 0 ? "no_signature" : "empty");
}

/** Removes the spaces and tabs around a value that HTTP allows; `trim` would take line ends and NBSP too. */
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

function unreadable(error: SignatureHeaderError): UnreadableSignatureHeader {
  return { ok: false, error };
}
