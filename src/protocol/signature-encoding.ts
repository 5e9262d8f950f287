import type { SignatureEncoding } from "./signature-assumptions.js";

const DIGEST_BYTES = 32;
const BASE64_LENGTH = 43;

/**
 * Reads a signature value of exactly 32 bytes; undefined for anything else. Node's decoders skip or cut off what they
 * do not know, so a value passes only when encoding its bytes gives the value back: no other characters, no second
 * spelling but the case of hex digits and the padding.
 */
export function decodeSignature(value: string, encodings: readonly SignatureEncoding[]): Buffer | undefined {
  for (const encoding of encodings) {
    const digest = encoding === "hex" ? decodeHex(value) : decodeBase64(value, encoding);
    if (digest !== undefined) return digest;
  }
  return undefined;
}

function decodeHex(value: string): Buffer | undefined {
  if (value.length !== 2 * DIGEST_BYTES) return undefined;
  const digest = Buffer.from(value, "hex");
  return digest.length === DIGEST_BYTES && digest.toString("hex") === value.toLowerCase() ? digest : undefined;
}

function decodeBase64(value: string, encoding: "base64" | "base64url"): Buffer | undefined {
  const padded = value.length === BASE64_LENGTH + 1 && value.endsWith("=");
  if (!padded && value.length !== BASE64_LENGTH) return undefined;
  const digits = padded ? value.slice(0, -1) : value;
  const digest = Buffer.from(digits, encoding);
  if (digest.length !== DIGEST_BYTES) return undefined;
  return digest.toString(encoding).slice(0, BASE64_LENGTH) === digits ? digest : undefined;
}
