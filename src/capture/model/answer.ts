import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import type { Capture, CaptureAttempt, HeaderList } from "./capture.js";

/* Without node: imports, since the page uses it too. */

/** An answer in short. */
export interface AnswerHead {
  /** Null if no answer came. */
  status: number | null;
  /** What a receiver of this package made of the delivery; null if the answer does not say. */
  outcome: string | null;
}

/** A replay sends what the receiver may have already. */
export type SentAs = "delivery" | "replay";

/** What an answer is called where it is shown. `warning`: answered 2xx, and no handler gets the event for it. */
export type AnswerJudgement = "good" | "warn" | "bad";

/** The outcome that a receiver of this package names in its answer. */
export function outcomeOf(headers: HeaderList): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === OUTCOME_HEADER)?.[1];
}

export function answerHead({ status, headers }: Pick<CaptureAttempt, "status" | "headers">): AnswerHead {
  return { status, outcome: outcomeOf(headers) ?? null };
}

/** The capture as programs get it: each attempt says its outcome beside the status. */
export function withOutcomes(capture: Capture): Capture {
  const attempts = capture.attempts.map((attempt) => ({ ...attempt, outcome: answerHead(attempt).outcome }));
  return { ...capture, attempts };
}

/** A replay that is answered as a duplicate has run nothing; for a delivery, that is how it should be. */
export function judgeAnswer({ status, outcome }: AnswerHead, sent: SentAs = "delivery"): AnswerJudgement {
  if (status === null || status < 200 || status > 299) return "bad";
  if (outcome === "parked") return "warn";
  return outcome === "duplicate" && sent === "replay" ? "warn" : "good";
}

/** Such as `200 parked`, or `no answer`. */
export function describeAnswer({ status, outcome }: AnswerHead): string {
  if (status === null) return "no answer";
  return outcome === null ? String(status) : `${status} ${outcome}`;
}

/** Why no handler ran for an attempt that was answered 2xx, without the full stop. */
export function whyNotRun(head: AnswerHead, sent: SentAs): string | undefined {
  if (judgeAnswer(head, sent) !== "warn") return undefined;
  return head.outcome === "parked" ? "Parked: not understood, so no handler ran" : "Not run: the receiver has this id";
}
