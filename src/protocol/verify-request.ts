import type { SignatureAssumptions } from "./signature-assumptions.js";
import type { Secret } from "./secret.js";
import { type ParseFailure, parseSignature } from "./parse-signature.js";
import type { RawRequest } from "./raw-request.js";
import { type MacVerdict, verifyParsed } from "./verify-signature.js";

declare const verified: unique symbol;

/** Bytes that the service is known to have signed. Only this file makes one, and decoding accepts nothing else. */
export interface VerifiedRequest {
  readonly [verified]: true;
  readonly body: Uint8Array;
}

type Genuine = Extract<MacVerdict, { ok: true }>;
type Refused = Extract<MacVerdict, { ok: false }> | ParseFailure;

export type VerifiedOrNot = (Genuine & { request: VerifiedRequest }) | Refused;

/** What verification needs besides the request. Checked when the receiver was created. */
export interface VerificationRules {
  toleranceSeconds: number;
  assumptions: SignatureAssumptions;
}

/** Turns a raw request into a verified one, or says why not. Never throws. */
export function verifyRequest(
  raw: RawRequest,
  secrets: readonly Secret[],
  nowMs: number,
  rules: VerificationRules,
): VerifiedOrNot {
  const parsed = parseSignature(raw.header, rules.assumptions);
  if (!parsed.ok) return parsed;
  const verdict = verifyParsed(parsed, raw.body, secrets, nowMs, rules.toleranceSeconds);
  if (!verdict.ok) return verdict;
  const { ok, signedAt, skewSeconds, secretIndex } = verdict;
  return { ok, signedAt, skewSeconds, secretIndex, request: brand(raw.body) };
}

/** Bytes from the inbox: they were verified before they were stored, and nothing else is ever stored. */
export function requestFromInbox(body: Uint8Array): VerifiedRequest {
  return brand(body);
}

function brand(body: Uint8Array): VerifiedRequest {
  return { body } as VerifiedRequest;
}
