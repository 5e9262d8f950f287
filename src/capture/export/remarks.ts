import { answerHead, describeAnswer } from "../model/answer.js";
import type { Capture } from "../model/capture.js";

/* Comments, for formats without a field for it. The text is of an app or a file, and must not end a comment. */

/** Such as `Last answer: 200 parked`; empty for a capture that was never sent. */
export function lastAnswerRemark({ attempts }: Pick<Capture, "attempts">): string {
  const last = attempts.at(-1);
  return last === undefined ? "" : `Last answer: ${describeAnswer(answerHead(last)).replaceAll(/[^\w .-]/g, "?")}`;
}

/** Such as `Redacted: strict`; empty for a capture with the original data. */
export function redactionRemark({ redaction }: Pick<Capture, "redaction">): string {
  return redaction === null ? "" : `Redacted: ${redaction.replaceAll(/[^\w-]/g, "?").slice(0, 40)}`;
}
