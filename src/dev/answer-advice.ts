import { answerHead } from "../capture/model/answer.js";
import type { CaptureAttempt, CaptureVerdict } from "../capture/model/capture.js";

/** What to change when the answer shows that no receiver took the delivery; undefined where it shows nothing. */
export function answerAdvice(attempt: CaptureAttempt, verdict: CaptureVerdict): string | undefined {
  const { status, outcome } = answerHead(attempt);
  if (outcome === "unverified" && verdict.code === "ok") {
    return `The app has another secret than ${verdict.secretRef ?? "the dev server"}: give both the same WEBHOOK_SECRET.`;
  }
  // Any other answer of a receiver names what became of the delivery.
  if (outcome !== null || status === null) return undefined;
  const { pathname } = new URL(attempt.target);
  if (status === 404 || status === 405) {
    return `The app has no POST route at ${pathname}: give the path of its receiver, as in --forward-to 3000/webhooks/mail.`;
  }
  if (status === 401 || status === 403) {
    return "A login, key or CSRF check of the app refused it before the receiver: mount the receiver above that.";
  }
  if (status === 400) {
    return "A parser or a check of the app refused it before the receiver: mount the receiver above express.json() and the like.";
  }
  return isHtml(attempt)
    ? `An HTML page is no answer of a receiver: another route of the app takes ${pathname}.`
    : undefined;
}

function isHtml({ headers }: CaptureAttempt): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === "content-type" && /^text\/html\b/i.test(value));
}
