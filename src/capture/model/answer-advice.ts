import { type AnswerHead, answerHead } from "./answer.js";
import type { CaptureAttempt } from "./capture.js";
import { bodyText } from "./captured-body.js";

/* Without node: imports, since the page uses it too. */

/** An answer of an app, and what it answered. */
export interface AdvisedAnswer extends AnswerHead {
  /** Null if the answer has none. */
  contentType: string | null;
  /** URL posted to. */
  target: string;
  /** Whether it was signed with a known secret and the present time. */
  isSigned: boolean;
  /** Name of that secret, such as `env:WEBHOOK_SECRET`. */
  secretRef?: string | null | undefined;
  /** How another path is given, such as `--to 3000/hooks`. */
  pathFlag: string;
}

/** What to change when the answer shows that no receiver took the delivery; undefined where it shows nothing. */
export function answerAdvice(answer: AdvisedAnswer): string | undefined {
  const { status, outcome, isSigned, secretRef, pathFlag } = answer;
  if (outcome !== null) {
    return outcome === "unverified" && isSigned ? otherSecret(secretRef ?? undefined) : OUTCOMES[outcome];
  }
  // Any other answer of a receiver names what became of the delivery.
  if (status === null) return undefined;
  const { pathname } = new URL(answer.target);
  if (status === 404 || status === 405) {
    return `The app has no POST route at ${pathname}: mount the receiver there, or give its path, as in ${pathFlag}.`;
  }
  if (status === 401 || status === 403) {
    return "A login, key or CSRF check of the app refused it before the receiver: mount the receiver above that.";
  }
  if (status === 400) {
    return "A parser or a check of the app refused it before the receiver: mount the receiver above express.json() and the like.";
  }
  if (status >= 300 && status < 400) {
    return "The service follows no redirect, so the event would be lost: give the path at which the receiver itself is.";
  }
  return /^text\/html\b/i.test(answer.contentType ?? "")
    ? `An HTML page is no answer of a receiver: another route of the app takes ${pathname}.`
    : undefined;
}

/**
 * The reason in the body of a refusal that no receiver made, such as that of a proxy or of the dev server; undefined
 * unless it is one short line of plain text.
 */
export function plainReason(answer: Pick<CaptureAttempt, "status" | "headers" | "body">): string | undefined {
  const { status, outcome } = answerHead(answer);
  if (status === null || status < 400 || outcome !== null || answer.body === null) return undefined;
  const text = bodyText(answer.body)?.trim() ?? "";
  const isPlain = /^text\/plain\b/i.test(contentTypeOf(answer) ?? "");
  return isPlain && text !== "" && text.length <= MAX_REASON && !text.includes("\n") ? `It says: ${text}` : undefined;
}

const MAX_REASON = 160;

/** What the answer of an attempt says of its content. */
export function contentTypeOf({ headers }: Pick<CaptureAttempt, "headers">): string | null {
  return headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? null;
}

function otherSecret(secretRef = "the one that signed this"): string {
  return `The app has another secret than ${secretRef}: give both the same WEBHOOK_SECRET.`;
}

/** Outcomes that are a mistake of the app, and not of the sender. */
const OUTCOMES: Readonly<Record<string, string>> = {
  body_consumed: "Another parser of the app read the body first: mount the receiver above express.json() and the like.",
  not_started: "The app did not call receiver.start(), or it has not ended: await it before the app listens.",
};
