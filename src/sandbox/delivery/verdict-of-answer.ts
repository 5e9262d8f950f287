import { LIMITS } from "../../protocol/limits.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { isDeliveredStatus, isRetryableStatus } from "../../protocol/retry-schedule.js";

/** The headers of an answer that are read; null for each that it does not have. */
export interface AnswerHeaders {
  retryAfter: string | null;
  /** What a receiver of this package made of the delivery. */
  outcome: string | null;
  contentType: string | null;
}

/** The result of sending an attempt. */
export type ReceiverAnswer =
  | ({ kind: "answered"; status: number } & AnswerHeaders)
  /** No answer in time, no connection, or not sent at all; `error` says which. */
  | { kind: "none"; error: string };

/** What the service does next: `disable` switches the endpoint off. See docs/service.md#final-answers. */
export type Verdict = "delivered" | "retry" | "final" | "disable";

/** Reads them; `headerOf` gets a name in lower case. */
export function readAnswerHeaders(headerOf: (name: string) => string | null): AnswerHeaders {
  return {
    retryAfter: headerOf("retry-after"),
    outcome: headerOf(OUTCOME_HEADER),
    contentType: headerOf("content-type"),
  };
}

export function verdictOfAnswer(answer: ReceiverAnswer): Verdict {
  const status = answer.kind === "answered" ? answer.status : null;
  if (status !== null && isDeliveredStatus(status)) return "delivered";
  if (status === LIMITS.disablingStatus) return "disable";
  return isRetryableStatus(status) ? "retry" : "final";
}

/** Why an attempt failed; null for one that did not. */
export function failureOfAnswer(answer: ReceiverAnswer): string | null {
  if (answer.kind === "none") return answer.error;
  const { status } = answer;
  if (isDeliveredStatus(status)) return null;
  return status >= 300 && status <= 399 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}
