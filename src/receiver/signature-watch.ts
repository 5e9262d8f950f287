import type { SignatureAssumptions } from "../protocol/assumptions.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { signatureShape } from "../protocol/signature-shape.js";
import type { VerifiedOrNot } from "../protocol/verify-request.js";
import type { Alarms } from "./alarms.js";

/** Mismatches in a row before the alarm: one may be a stray request, three are a wrong secret. */
const MISMATCHES_BEFORE_ALARM = 3;

/** Notices from the run of verdicts that a secret, a clock or the assumed layout is wrong, long before the service gives up. */
export class SignatureWatch {
  readonly #alarms: Alarms;
  readonly #assumptions: SignatureAssumptions;
  #mismatchesInARow = 0;

  constructor(alarms: Alarms, assumptions: SignatureAssumptions) {
    this.#alarms = alarms;
    this.#assumptions = assumptions;
  }

  saw(verdict: VerifiedOrNot, header: HeaderReader): void {
    if (verdict.ok) {
      this.#mismatchesInARow = 0;
      if (verdict.secretIndex > 0) {
        this.#alarms.raise({ kind: "older_secret_matched", secretIndex: verdict.secretIndex });
      }
      return;
    }
    switch (verdict.reason) {
      case "missing_signature":
        return;
      case "malformed_signature":
      case "missing_timestamp":
      case "malformed_timestamp": {
        const shape = signatureShape(header, this.#assumptions);
        this.#alarms.raise({ kind: "signature_unreadable", reason: verdict.reason, shape });
        return;
      }
      case "mismatch":
        this.#mismatchesInARow += 1;
        if (this.#mismatchesInARow < MISMATCHES_BEFORE_ALARM) return;
        this.#alarms.raise({ kind: "signature_mismatches", inARow: this.#mismatchesInARow });
        return;
      case "stale":
      case "early":
        this.#alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
    }
  }
}
