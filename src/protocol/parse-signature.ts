import type { HeaderReader } from "./raw-request.js";
import type { SignatureAssumptions } from "./assumptions.js";
import { readSignatureHeader, trimSpaces, type SignatureHeaderFault } from "./signature-header.js";
import { parseTimestamp } from "./timestamp.js";

/** What the headers of a delivery claim. Nothing of it is proven yet. */
export interface ParsedSignature {
  ok: true;
  /** The timestamp as it stands, which is what was signed. */
  timestampText: string;
  /** The same in milliseconds since 1970. */
  signedAt: number;
  /** Which header the timestamp came from. */
  timestampFrom: "signature" | "header";
  /** One or more values of 32 bytes; one that fits is enough. */
  signatures: readonly Buffer[];
}

/** Headers from which no claim can be read: nothing to verify. */
export type ParseFailure =
  | { ok: false; reason: "missing_signature" | "missing_timestamp" | "malformed_timestamp" }
  | { ok: false; reason: "malformed_signature"; fault: SignatureHeaderFault };

/** Reads the signature and timestamp headers, without the body. Never throws for what they hold. */
export function parseSignature(
  header: HeaderReader,
  assumptions: SignatureAssumptions,
): ParsedSignature | ParseFailure {
  const text = header(assumptions.signatureHeader);
  if (typeof text !== "string") return { ok: false, reason: "missing_signature" };
  const read = readSignatureHeader(text, assumptions.encodings);
  if (!read.ok) return { ok: false, reason: "malformed_signature", fault: read.fault };

  const inSignature = read.timestamp !== undefined && assumptions.timestampIn !== "header";
  const timestampText = inSignature ? read.timestamp : timestampHeader(header, assumptions);
  if (timestampText === undefined) return { ok: false, reason: "missing_timestamp" };
  const signedAt = parseTimestamp(timestampText);
  if (signedAt === undefined) return { ok: false, reason: "malformed_timestamp" };
  const timestampFrom = inSignature ? "signature" : "header";
  return { ok: true, timestampText, signedAt, timestampFrom, signatures: read.signatures };
}

function timestampHeader(header: HeaderReader, assumptions: SignatureAssumptions): string | undefined {
  if (assumptions.timestampIn === "signature") return undefined;
  const text = header(assumptions.timestampHeader);
  return typeof text === "string" ? trimSpaces(text) : undefined;
}
