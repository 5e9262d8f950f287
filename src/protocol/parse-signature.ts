import type { HeaderReader } from "./raw-request.js";
import type { SignatureAssumptions } from "./signature-assumptions.js";
import { readSignatureHeader, trimSpaces, type SignatureHeaderError } from "./signature-header.js";
import { parseTimestamp } from "./timestamp.js";

/** What the headers of a delivery claim. Nothing is verified yet. */
export interface ParsedSignature extends ClaimedTime {
  ok: true;
  /** One or more values of 32 bytes; one that fits is enough. */
  signatures: readonly Buffer[];
}

interface ClaimedTime {
  /** The timestamp as it stands, which is what was signed. */
  timestampText: string;
  /** The same in milliseconds since 1970. */
  signedAt: number;
  /** Which header the timestamp came from. */
  timestampFrom: "signature" | "header";
}

/** A signature header is there, and no claim can be read from it: its layout is not the one that is assumed. */
export type UnreadableSignature =
  | { ok: false; reason: "missing_timestamp" | "malformed_timestamp" }
  | { ok: false; reason: "malformed_signature"; error: SignatureHeaderError };

/** Headers from which no claim can be read: nothing to verify. */
export type ParseFailure = { ok: false; reason: "missing_signature" } | UnreadableSignature;

/** Reads the signature and timestamp headers, without the body. Never throws for what they hold. */
export function parseSignature(
  header: HeaderReader,
  assumptions: SignatureAssumptions,
): ParsedSignature | ParseFailure {
  const text = header(assumptions.signatureHeader);
  if (typeof text !== "string") return { ok: false, reason: "missing_signature" };
  const read = readSignatureHeader(text, assumptions.encodings);
  if (!read.ok) return { ok: false, reason: "malformed_signature", error: read.error };
  const texts = timestampTexts(read.timestamps, header, assumptions);
  const time = claimedTime(texts.inSignature, "signature") ?? claimedTime(texts.inHeader, "header");
  if (time !== undefined) return { ok: true, ...time, signatures: read.signatures };
  const isMissing = texts.inSignature.length + texts.inHeader.length === 0;
  return { ok: false, reason: isMissing ? "missing_timestamp" : "malformed_timestamp" };
}

/**
 * True when a request has the signature header or the timestamp header. One that has either may be from the service:
 * where the timestamp travels is assumed, and something in front of the receiver may have dropped the other one.
 */
export function hasSignatureHeaders(
  header: HeaderReader,
  { signatureHeader, timestampHeader }: SignatureAssumptions,
): boolean {
  return header(signatureHeader) !== undefined || header(timestampHeader) !== undefined;
}

/** The different texts in each place where the assumptions look for a timestamp. */
export interface TimestampTexts {
  inSignature: readonly string[];
  inHeader: readonly string[];
}

/** Finds the texts that may be the timestamp; `inSignature` is what the signature header holds. */
export function timestampTexts(
  inSignature: readonly string[],
  header: HeaderReader,
  { timestampIn, timestampHeader }: SignatureAssumptions,
): TimestampTexts {
  const text = timestampIn === "signature" ? undefined : header(timestampHeader);
  return {
    inSignature: timestampIn === "header" ? [] : inSignature,
    // A header that was sent twice reads as "a, b".
    inHeader: typeof text === "string" ? [...new Set(text.split(",").map(trimSpaces))] : [],
  };
}

/** The only text of a place that can be read; of two, it is not known which one was signed. */
function claimedTime(texts: readonly string[], timestampFrom: "signature" | "header"): ClaimedTime | undefined {
  let found: ClaimedTime | undefined;
  for (const timestampText of texts) {
    const signedAt = parseTimestamp(timestampText);
    if (signedAt === undefined) continue;
    if (found !== undefined) return undefined;
    found = { timestampText, signedAt, timestampFrom };
  }
  return found;
}
