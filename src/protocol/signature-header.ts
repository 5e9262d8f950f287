import { MAX_SIGNATURE_HEADER_LENGTH } from "./limits.js";
import type { SignatureEncoding } from "./assumptions.js";
import { decodeSignature } from "./signature-encoding.js";

/** What is wrong with the text of a signature header. */
export type SignatureHeaderFault =
  | "empty"
  | "too_long"
  /** A list of which a part is not `key=value`; two bare values look like that. */
  | "not_pairs"
  /** `t=` twice, as when the header was sent twice. */
  | "two_timestamps"
  /** A list without `v1=`. */
  | "no_signature"
  /** `v1=` twice without the `t=` that goes with a list. */
  | "several_bare_signatures"
  /** A value that is not exactly 32 bytes in one of the encodings. */
  | "undecodable_signature";

/** The content of a signature header. */
export interface SignatureHeader {
  ok: true;
  /** Text of `t=`, not yet read; undefined when there is none. */
  timestamp: string | undefined;
  /** One or more values of 32 bytes. */
  signatures: readonly Buffer[];
}

export interface UnreadableSignatureHeader {
  ok: false;
  fault: SignatureHeaderFault;
}

const KEY = /^[A-Za-z0-9_-]+$/;
const LONGEST_KEY = 32;

/** Reads `t=…,v1=…[,v1=…]` with unknown keys ignored, or one bare value with or without `sha256=`, `v1=` or `v1,`. */
export function readSignatureHeader(
  text: string,
  encodings: readonly SignatureEncoding[],
): SignatureHeader | UnreadableSignatureHeader {
  if (text.length > MAX_SIGNATURE_HEADER_LENGTH) return fault("too_long");
  const value = trimSpaces(text);
  if (value === "") return fault("empty");
  const bare = bareValue(value);
  if (bare === undefined) return readPairs(value, encodings);
  const signature = decodeSignature(bare, encodings);
  if (signature === undefined) return fault("undecodable_signature");
  return { ok: true, timestamp: undefined, signatures: [signature] };
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

/** The value of a header that is no list, or undefined for a list. */
function bareValue(value: string): string | undefined {
  if (value.startsWith("v1,")) return value.slice("v1,".length);
  if (value.includes(",") || value.startsWith("t=")) return undefined;
  if (value.startsWith("v1=")) return value.slice("v1=".length);
  return value.startsWith("sha256=") ? value.slice("sha256=".length) : value;
}

function readPairs(
  value: string,
  encodings: readonly SignatureEncoding[],
): SignatureHeader | UnreadableSignatureHeader {
  let timestamp: string | undefined;
  const signatures: Buffer[] = [];
  for (let start = 0; start <= value.length;) {
    const comma = value.indexOf(",", start);
    const end = comma === -1 ? value.length : comma;
    const part = trimSpaces(value.slice(start, end));
    start = end + 1;
    if (part.startsWith("t=")) {
      if (timestamp !== undefined) return fault("two_timestamps");
      timestamp = part.slice("t=".length);
    } else if (part.startsWith("v1=")) {
      const signature = decodeSignature(part.slice("v1=".length), encodings);
      if (signature === undefined) return fault("undecodable_signature");
      signatures.push(signature);
    } else if (!isUnknownPair(part)) return fault("not_pairs");
  }
  if (signatures.length === 0) return fault("no_signature");
  if (timestamp === undefined && signatures.length > 1) return fault("several_bare_signatures");
  return { ok: true, timestamp, signatures };
}

/** `key=value` of a later version of the service. The bound keeps a padded base64 value from passing for a key. */
function isUnknownPair(part: string): boolean {
  const equals = part.indexOf("=");
  return equals > 0 && equals <= LONGEST_KEY && KEY.test(part.slice(0, equals));
}

function fault(fault: SignatureHeaderFault): UnreadableSignatureHeader {
  return { ok: false, fault };
}
