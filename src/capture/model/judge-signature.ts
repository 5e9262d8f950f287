import type { Changes } from "../../base/options.js";
import { randomBytes } from "node:crypto";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { explainSignature } from "../../protocol/explain-signature.js";
import type { SignatureExplanation, SignatureFinding } from "../../protocol/explanation.js";
import type { HeaderReader } from "../../protocol/raw-request.js";
import { verifySignature, type SignatureVerdict } from "../../protocol/verify-signature.js";
import type { CaptureVerdict, HeaderList, VerdictCode } from "./capture.js";

/** A secret, and the name that may be shown for it: `env:WEBHOOK_SECRET`. */
export interface NamedSecret {
  ref: string;
  /** The whole string including `whsec_`. */
  value: string;
}

export interface JudgeInput {
  headers: HeaderList;
  body: Uint8Array;
  /** If empty, only the form of the signature is checked. */
  secrets: readonly NamedSecret[];
  /** Time of arrival in milliseconds since 1970. */
  receivedAt: number;
  /** @default 300 */
  toleranceSeconds?: number;
  /** @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions>;
}

/** Finding the cause of a mismatch costs hundreds of MACs. For a larger body that would delay other requests. */
export const MAX_BYTES_TO_EXPLAIN = 256 * 1024;

/** Reads a header list by lower-case name; a header sent twice reads as "a, b". */
export function headerListReader(headers: HeaderList): HeaderReader {
  return (name) => {
    const values = headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(", ");
  };
}

/** Checks the signature of a received request at the time of its arrival. */
export function judgeSignature(input: JudgeInput): CaptureVerdict {
  const { verdict, secretRef, summary, findings } = explainArrival(input);
  const code = codeOf(verdict);
  const skewSeconds = "skewSeconds" in verdict ? 0 - verdict.skewSeconds : null;
  if (code === "mismatch" && input.secrets.length === 0) return { ...unchecked, skewSeconds };
  return { code, summary, fix: findings[0]?.fix ?? null, skewSeconds, secretRef };
}

const unchecked: Omit<CaptureVerdict, "skewSeconds"> = {
  code: "mismatch",
  summary: "Not checked: no secret is known here.",
  fix: "Give the endpoint's secret, the whole string including whsec_.",
  secretRef: null,
};

/** An explanation that calls secrets by their names. */
export interface NamedExplanation extends Pick<SignatureExplanation, "verdict" | "summary"> {
  findings: SignatureFinding[];
  /** Name of the secret that matches. */
  secretRef: string | null;
}

/**
 * As `explainSignature` at the time of arrival. Looks for no cause of a mismatch in a body that is too large, unless
 * nothing else waits meanwhile.
 */
export function explainArrival(input: JudgeInput, { mayTakeLong = false } = {}): NamedExplanation {
  const { secrets } = input;
  const { verdict, summary, findings } = explain(input, mayTakeLong);
  const refOf = (index: number): string | undefined => secrets[index]?.ref;
  const named = (text: string): string =>
    text.replaceAll(/secrets\[(\d+)\]/g, (found, index: string) => refOf(Number(index)) ?? found);
  return {
    verdict,
    secretRef: "secretIndex" in verdict ? (refOf(verdict.secretIndex) ?? null) : null,
    summary: named(summary),
    findings: findings.map(({ code, message, fix }) => ({ code, message: named(message), fix: named(fix) })),
  };
}

function explain(
  input: JudgeInput,
  mayTakeLong: boolean,
): Pick<SignatureExplanation, "verdict" | "summary" | "findings"> {
  const { body, headers, secrets, receivedAt } = input;
  const question = {
    body,
    headers: headerListReader(headers),
    // Without a secret the form can still be checked. This secret has never signed anything.
    secrets: secrets.length === 0 ? [randomBytes(32).toString("hex")] : secrets.map(({ value }) => value),
    nowMs: receivedAt,
    toleranceSeconds: input.toleranceSeconds,
    assumptions: input.assumptions,
  };
  if (secrets.length > 0 && (mayTakeLong || body.byteLength <= MAX_BYTES_TO_EXPLAIN)) return explainSignature(question);
  const verdict = verifySignature(question);
  if (!verdict.ok && verdict.reason === "mismatch") {
    return { verdict, summary: "Not accepted (mismatch): no known secret made the signature.", findings: [] };
  }
  return explainSignature(question);
}

function codeOf(verdict: SignatureVerdict): VerdictCode {
  if (verdict.ok) return "ok";
  switch (verdict.reason) {
    case "stale":
    case "early":
      return "stale";
    case "mismatch":
      return "mismatch";
    case "missing_signature":
      return "missing";
    case "missing_timestamp":
    case "malformed_signature":
    case "malformed_timestamp":
      return "malformed";
  }
}
