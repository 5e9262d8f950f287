import { bodyBytes } from "../../capture/model/capture-request.js";
import { CUT_TAG, type Capture } from "../../capture/model/capture.js";
import { headerListReader, nameSecrets, type NamedSecret } from "../../capture/model/judge-signature.js";
import { explainSignature } from "../../protocol/explain-signature.js";

/** Whether a signature is genuine, and what to do where it is not. */
export interface SignatureCheckResult {
  /** `ok`, or why not. */
  code: string;
  /** Name of the secret that matches. */
  secretRef: string | null;
  summary: string;
  findings: { message: string; fix: string }[];
}

/** As of the arrival, with the secrets known now; without any, or of a body that was cut, as it was found then. */
export function checkCapturedSignature(capture: Capture, secrets: readonly NamedSecret[]): SignatureCheckResult {
  const { verify, request, receivedAt, tags } = capture;
  if (secrets.length === 0 || tags.includes(CUT_TAG)) {
    const { code, secretRef, summary, fix } = verify;
    return { code, secretRef, summary, findings: fix === null ? [] : [{ message: summary, fix }] };
  }
  const { verdict, summary, findings } = explainSignature({
    body: bodyBytes(capture),
    headers: headerListReader(request.headers),
    secrets: secrets.map(({ value }) => value),
    nowMs: Date.parse(receivedAt),
  });
  // The explanation gives the number of a secret. The user knows them by name.
  const named = (text: string): string => nameSecrets(text, secrets);
  return {
    code: verdict.ok ? "ok" : verdict.reason,
    secretRef: "secretIndex" in verdict ? (secrets[verdict.secretIndex]?.ref ?? null) : null,
    summary: named(summary),
    findings: findings.map(({ message, fix }) => ({ message: named(message), fix: named(fix) })),
  };
}
