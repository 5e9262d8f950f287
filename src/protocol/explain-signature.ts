import { explainMismatch, secretName } from "./explain-mismatch.js";
import { clockFinding } from "./explain-timestamp.js";
import { explainUnreadable } from "./explain-unreadable.js";
import type { SignatureExplanation, SignatureFinding } from "./explanation.js";
import { headerReader } from "./header-access.js";
import { LIMITS } from "./limits.js";
import { parseSignature } from "./parse-signature.js";
import { resolveSignatureAssumptions } from "./resolve-assumptions.js";
import { checkSecrets } from "./secret.js";
import { verifySignature, type SignatureVerdict, type VerifySignatureInput } from "./verify-signature.js";

/**
 * Verifies a delivery and says in plain words what is wrong with it and what to change: it tries the usual mistakes
 * with secret, body and timestamp until the signature fits. The words hold no secret, no signature and no part of the
 * body.
 *
 * For a terminal, a test or a log line after a failure, not for every request: a mismatch costs some hundred MACs over
 * the body. Throws as `verifySignature` does.
 */
export function explainSignature(input: VerifySignatureInput): SignatureExplanation {
  const verdict = verifySignature(input);
  const findings = findingsOf(verdict, input);
  return { verdict, ok: verdict.ok, summary: summaryOf(verdict, findings), findings };
}

function findingsOf(verdict: SignatureVerdict, input: VerifySignatureInput): SignatureFinding[] {
  const header = headerReader(input.headers);
  const assumptions = resolveSignatureAssumptions(input.assumptions);
  const secrets = checkSecrets(input.secrets);
  const tolerance = input.toleranceSeconds ?? LIMITS.toleranceSeconds;
  if (verdict.ok) return verdict.secretIndex === 0 ? [] : [notFirst(verdict.secretIndex, secrets.length)];
  if (!("signedAt" in verdict)) return explainUnreadable(verdict, header, assumptions);
  const clock = clockFinding(verdict.skewSeconds, verdict.signedAt, tolerance);
  if (verdict.reason !== "mismatch") return [clock];
  const parsed = parseSignature(header, assumptions);
  const causes = parsed.ok ? explainMismatch({ parsed, body: input.body, secrets }) : [];
  const outside = Math.abs(verdict.skewSeconds) > tolerance;
  return outside ? [...causes, clock] : causes;
}

function notFirst(index: number, count: number): SignatureFinding {
  return {
    code: "secret_not_first",
    message: `${secretName(index)} of ${count} made the signature, not ${secretName(0)}.`,
    fix: "Nothing is wrong during a rotation; afterwards remove the secrets that no longer sign.",
  };
}

function summaryOf(verdict: SignatureVerdict, findings: readonly SignatureFinding[]): string {
  if (!verdict.ok) return `Not accepted (${verdict.reason}): ${findings[0]?.message ?? "no cause was found."}`;
  const { skewSeconds, secretIndex } = verdict;
  const when = skewSeconds < 0 ? `${-skewSeconds} seconds ahead of now` : `${skewSeconds} seconds ago`;
  return `Genuine: signed ${when} with ${secretName(secretIndex)}.`;
}
