import type { SignatureAssumptions } from "./signature-assumptions.js";
import { MAX_SIGNATURE_HEADER_LENGTH } from "./limits.js";
import type { HeaderReader } from "./raw-request.js";
import { headerParts, type HeaderPart } from "./signature-header.js";

/** A short word such as `t`, `v1` or `sha256` names a part; anything longer may be a piece of a value. */
const PLAIN_KEY = /^(?=.{1,8}$)[a-z]+\d{0,3}$/;

/** The first that fits describes a value. */
const CLASSES: readonly [RegExp, string][] = [
  [/^\d+$/, "digits"],
  [/^[\da-f]+$/i, "hex digits"],
  [/^[a-z]+$/i, "letters"],
  [/^[\w-]+=*$/, "base64url characters"],
  [/^[A-Za-z\d+/]+=*$/, "base64 characters"],
  [/^[\x21-\x7e]+$/, "printable characters"],
];

/** Most parts that are described; a hostile header can have thousands. */
const MAX_PARTS = 8;

/**
 * Describes the headers of a signature that cannot be read: names, lengths and kinds of characters, never a value. It
 * is what a person needs to see which layout the sender uses.
 */
export function signatureShape(header: HeaderReader, assumptions: SignatureAssumptions): string {
  const { signatureHeader, timestampHeader } = assumptions;
  return `${describe(signatureHeader, header)}; ${describe(timestampHeader, header)}`;
}

function describe(name: string, header: HeaderReader): string {
  const text = header(name);
  if (text === undefined) return `no ${name}`;
  const parts = headerParts(text.slice(0, MAX_SIGNATURE_HEADER_LENGTH));
  const described = parts.slice(0, MAX_PARTS).map(describePart);
  const left = parts.length - described.length;
  if (left > 0) described.push(`${left} more`);
  return `${name} of ${text.length} characters: ${described.length === 0 ? "nothing" : described.join(", ")}`;
}

function describePart({ key, value }: HeaderPart): string {
  const what = value === "" ? "nothing" : `${value.length} ${classOf(value)}`;
  if (key === undefined) return what;
  return PLAIN_KEY.test(key) ? `${key}=${what}` : `a key of ${key.length} characters = ${what}`;
}

function classOf(value: string): string {
  return CLASSES.find(([characters]) => characters.test(value))?.[1] ?? "characters";
}
