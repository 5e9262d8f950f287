import type { Changes } from "../../base/options.js";
import { CUT_TAG, type Capture } from "../../capture/model/capture.js";
import { bodyBytes } from "../../capture/model/capture-request.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import {
  MAX_BYTES_TO_EXPLAIN,
  type NamedSecret,
  explainArrival,
  headerListReader,
} from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { LIMITS } from "../../protocol/limits.js";
import { parseSignature } from "../../protocol/parse-signature.js";
import { resolveSignatureAssumptions } from "../../protocol/resolve-assumptions.js";
import type { SignatureVerdict } from "../../protocol/verify-signature.js";
import type { SignatureCheck, SignatureReport } from "./page-api.js";

/**
 * The check of a capture's signature, step by step, as of the time it arrived and with the secrets known now. A step is
 * skipped if an earlier one that it needs has failed.
 */
export function explainCapture(
  capture: Capture,
  { secrets, assumptions }: { secrets: readonly NamedSecret[]; assumptions: Changes<SignatureAssumptions> },
): SignatureReport {
  const resolved = resolveSignatureAssumptions(assumptions);
  const parsed = parseSignature(headerListReader(capture.request.headers), resolved);
  const timestamp = parsed.ok ? parsed.timestampText : null;
  if (secrets.length === 0) return { ...withoutSecret(capture), timestamp };
  const body = bodyBytes(capture);
  const receivedAt = Date.parse(capture.receivedAt);
  const { headers } = capture.request;
  const { verdict, secretRef, summary, findings } = explainArrival({ body, headers, secrets, receivedAt, assumptions });
  // A body that was cut is one of this size.
  const isLarge = !verdict.ok && verdict.reason === "mismatch" && body.byteLength >= MAX_BYTES_TO_EXPLAIN;
  return {
    // That of the verdict tells the time from now, which was the arrival; the page shows how long it was before that.
    summary: verdict.ok ? `Genuine: signed with ${secretRef ?? "a known secret"}.` : summary,
    checks: checksOf(verdict, secrets, resolved.signatureHeader),
    findings: isLarge ? [tooLarge(capture)] : findings,
    timestamp,
  };
}

/** The usual mistakes cost a MAC over the body each, during which the dev server would answer nothing else. */
function tooLarge({ id, tags }: Capture): SignatureReport["findings"][number] {
  const isCut = tags.includes(CUT_TAG);
  return {
    code: "not_explained",
    message: `The body is too large to look for the cause here${isCut ? ", and only its beginning was kept" : ": that takes seconds"}.`,
    fix: isCut
      ? "Give dev the endpoint's secret, and have it sent again."
      : `Run npx pigeonhole captures show ${captureHandle(id)}`,
  };
}

function withoutSecret({ verify }: Capture): Pick<SignatureReport, "summary" | "checks" | "findings"> {
  const findings = verify.fix === null ? [] : [{ code: verify.code, message: verify.summary, fix: verify.fix }];
  const check: SignatureCheck = { name: "Signature", result: "skipped", detail: "No secret is known here." };
  return { summary: verify.summary, checks: [check], findings };
}

function checksOf(verdict: SignatureVerdict, secrets: readonly NamedSecret[], header: string): SignatureCheck[] {
  const reason = verdict.ok ? undefined : verdict.reason;
  const hasTime = "signedAt" in verdict;
  const isHeaderBad = reason === "missing_signature" || reason === "malformed_signature";
  const isMatch = "secretIndex" in verdict;
  return [
    {
      name: "Signature header",
      result: isHeaderBad ? "fail" : "pass",
      detail:
        reason === "missing_signature"
          ? `There is no ${header}.`
          : isHeaderBad
            ? `${header} cannot be read.`
            : `${header} is there and can be read.`,
    },
    {
      name: "Time of signing",
      result: hasTime ? "pass" : isHeaderBad ? "skipped" : "fail",
      detail: hasTime
        ? new Date(verdict.signedAt).toISOString()
        : isHeaderBad
          ? "Not checked."
          : "Missing or unreadable.",
    },
    {
      name: "Secret and bytes",
      result: isMatch ? "pass" : hasTime ? "fail" : "skipped",
      detail: isMatch
        ? `Signed with ${secrets[verdict.secretIndex]?.ref ?? "a known secret"}, over exactly these bytes.`
        : hasTime
          ? `None of ${secrets.length} known ${secrets.length === 1 ? "secret" : "secrets"} made this signature over these bytes.`
          : "Not checked.",
    },
    ageCheck(verdict),
  ];
}

function ageCheck(verdict: SignatureVerdict): SignatureCheck {
  if (!("signedAt" in verdict)) return { name: "Age", result: "skipped", detail: "Not checked." };
  const { skewSeconds } = verdict;
  const isInWindow = Math.abs(skewSeconds) <= LIMITS.toleranceSeconds;
  const age = skewSeconds < 0 ? `${-skewSeconds} s ahead of the arrival` : `${skewSeconds} s before the arrival`;
  return {
    name: "Age",
    result: isInWindow ? "pass" : "fail",
    detail: `Signed ${age}; ${LIMITS.toleranceSeconds} s are allowed.`,
  };
}
