import type { VerifiedOrNot } from "../protocol/verify-request.js";
import type { Alarms } from "./alarms.js";

/** Mismatches in a row before the alarm: one may be a stray request, three are a wrong secret. */
const MISMATCHES_BEFORE_ALARM = 3;

/** Notices from the run of verdicts that a secret or a clock is wrong, long before the service gives up. */
export class SignatureWatch {
  readonly #alarms: Alarms;
  #mismatchesInARow = 0;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  saw(verdict: VerifiedOrNot): void {
    if (verdict.ok) {
      this.#mismatchesInARow = 0;
      if (verdict.secretIndex > 0) {
        this.#alarms.raise({ kind: "older_secret_matched", secretIndex: verdict.secretIndex });
      }
      return;
    }
    if (verdict.reason === "mismatch") {
      this.#mismatchesInARow += 1;
      if (this.#mismatchesInARow >= MISMATCHES_BEFORE_ALARM) {
        this.#alarms.raise({ kind: "signature_mismatches", inARow: this.#mismatchesInARow });
      }
    } else if (verdict.reason === "stale" || verdict.reason === "early") {
      this.#alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
    }
  }
}
