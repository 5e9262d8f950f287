import type { SignatureAssumptions } from "../protocol/assumptions.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { signatureShape } from "../protocol/signature-shape.js";
import type { VerifiedOrNot } from "../protocol/verify-request.js";
import { SECOND } from "../base/duration.js";
import type { Alarms } from "./alarms.js";
import type { ClockWatch } from "./clock-watch.js";

/** Mismatches in a row before the alarm: one may be a stray request, three are a wrong secret. */
const MISMATCHES_BEFORE_ALARM = 3;

export interface SignatureWatchDeps {
  alarms: Alarms;
  clockWatch: ClockWatch;
  assumptions: SignatureAssumptions;
}

/** Notices from the run of verdicts that a secret, a clock or the assumed layout is wrong, long before the service gives up. */
export class SignatureWatch {
  readonly #deps: SignatureWatchDeps;
  #mismatchesInARow = 0;

  constructor(deps: SignatureWatchDeps) {
    this.#deps = deps;
  }

  saw(verdict: VerifiedOrNot, header: HeaderReader): void {
    const { alarms, clockWatch, assumptions } = this.#deps;
    if (verdict.ok) {
      this.#mismatchesInARow = 0;
      if (verdict.secretIndex > 0) {
        alarms.raise({ kind: "older_secret_matched", secretIndex: verdict.secretIndex });
      }
      return;
    }
    switch (verdict.reason) {
      case "missing_signature":
        return;
      case "malformed_signature":
      case "missing_timestamp":
      case "malformed_timestamp": {
        const shape = signatureShape(header, assumptions);
        alarms.raise({ kind: "signature_unreadable", reason: verdict.reason, shape });
        return;
      }
      case "mismatch":
        this.#mismatchesInARow += 1;
        if (this.#mismatchesInARow < MISMATCHES_BEFORE_ALARM) return;
        alarms.raise({ kind: "signature_mismatches", inARow: this.#mismatchesInARow });
        return;
      case "early":
        alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
        return;
      case "stale":
        alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
        clockWatch.doubt(verdict.skewSeconds * SECOND);
    }
  }
}
