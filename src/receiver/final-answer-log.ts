import type { SignatureAssumptions } from "../protocol/assumptions.js";
import type { Outcome } from "../protocol/outcome.js";
import { hasSignatureHeaders } from "../protocol/parse-signature.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { isDeliveredStatus, isRetryableStatus } from "../protocol/retry-schedule.js";
import type { Alarms } from "./alarms.js";
import type { LimitedLog } from "./limited-log.js";

export interface FinalAnswerDeps {
  alarms: Alarms;
  log: LimitedLog;
  /** They name the headers of a signature. */
  assumptions: SignatureAssumptions;
}

/**
 * Logs answers after which the service does not send again. Other senders get them every day; for a request that has a
 * signature it may be a lost event.
 */
export class FinalAnswerLog {
  readonly #deps: FinalAnswerDeps;

  constructor(deps: FinalAnswerDeps) {
    this.#deps = deps;
  }

  saw({ kind: outcome }: Outcome, status: number, header: HeaderReader): void {
    if (isDeliveredStatus(status) || isRetryableStatus(status)) return;
    const { alarms, log, assumptions } = this.#deps;
    if (!hasSignatureHeaders(header, assumptions)) return;
    // Of the announced length, only a number is trusted.
    const announcedBytes = Number(header("content-length") ?? Number.NaN);
    const size = Number.isSafeInteger(announcedBytes) ? { announcedBytes } : {};
    log.warn(outcome, { status, ...size }, "final_answer");
    alarms.raise({ kind: "final_answer", outcome, status });
  }
}
