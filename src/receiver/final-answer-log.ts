import type { Outcome } from "../protocol/outcome.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { isDeliveredStatus, isRetryableStatus } from "../protocol/retry-schedule.js";
import type { Alarms } from "./alarms.js";
import type { LimitedLog } from "./limited-log.js";

export interface FinalAnswerDeps {
  alarms: Alarms;
  log: LimitedLog;
  /** In lower case. */
  signatureHeader: string;
}

/**
 * Tells of answers after which the service does not send again. Strangers get them every day; for a request that carries a signature it
 * may be an event lost.
 */
export class FinalAnswerLog {
  readonly #deps: FinalAnswerDeps;

  constructor(deps: FinalAnswerDeps) {
    this.#deps = deps;
  }

  saw({ kind: outcome }: Outcome, status: number, header: HeaderReader): void {
    if (isDeliveredStatus(status) || isRetryableStatus(status)) return;
    const { alarms, log, signatureHeader } = this.#deps;
    if (header(signatureHeader) === undefined) return;
    // What a sender announces is not trusted further than a number.
    const announcedBytes = Number(header("content-length") ?? Number.NaN);
    const size = Number.isSafeInteger(announcedBytes) ? { announcedBytes } : {};
    log.warn(outcome, { status, ...size }, "final_answer");
    alarms.raise({ kind: "final_answer", outcome, status });
  }
}
