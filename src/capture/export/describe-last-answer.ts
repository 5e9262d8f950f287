import { answerHead, describeAnswer } from "../model/answer.js";
import type { Capture } from "../model/capture.js";

/** Such as `Last answer: 200 parked`, for formats without a field for it; empty for a capture that was never sent. */
export function describeLastAnswer({ attempts }: Pick<Capture, "attempts">): string {
  const last = attempts.at(-1);
  // A header of the app is in it, and must not end a comment.
  return last === undefined ? "" : `Last answer: ${describeAnswer(answerHead(last)).replaceAll(/[^\w .-]/g, "?")}`;
}
