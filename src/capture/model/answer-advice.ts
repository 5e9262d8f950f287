import { MINUTE, SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { type AnswerHead, type AnswerJudgement, type SentAs, answerHead, judgeAnswer } from "./answer.js";
import type { CaptureAttempt, HeaderList } from "./capture.js";
import { bodyText } from "./captured-body.js";

/* Without node: imports, since the page uses it too. */

/** How the path of the app is given to the dev server, as an example. */
export const FORWARD_FLAG = "--forward-to 3000/hooks";

/** An answer of an app, and what it answered. */
export interface AdvisedAnswer extends AnswerHead {
  /** Null if the answer has none. */
  contentType: string | null;
  /** How far the app's clock is ahead of this machine's, in milliseconds; null if the answer does not say. */
  clockAheadMs: number | null;
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
    return outcome === "unverified" && isSigned ? whyUnverified(answer.clockAheadMs, secretRef) : OUTCOMES.get(outcome);
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
  if (!isHtml(answer.contentType)) return undefined;
  if (status === 500) {
    return "The app answered with its error page, since something in it failed before a receiver answered: see the app's log.";
  }
  return status > 500
    ? "A proxy or host answered with an HTML page, not the app: see whether the app runs and can be reached from there."
    : `An HTML page is no answer of a receiver: another route of the app takes ${pathname}.`;
}

/** An answer that needs advice is no success, whatever its status. */
export function judgeAdvised(judgement: AnswerJudgement, advice: string | null | undefined): AnswerJudgement {
  return judgement === "good" && typeof advice === "string" ? "warn" : judgement;
}

/** An answer in short, and whether a receiver can have made it. */
export interface ShownAnswer extends AnswerHead {
  /** True for a 2xx that is an HTML page: no receiver took the delivery, and the service does not send it again. */
  notReceived: boolean;
}

export function shownAnswer(attempt: Pick<CaptureAttempt, "status" | "headers">): ShownAnswer {
  const head = answerHead(attempt);
  return { ...head, notReceived: wasNotReceived({ ...head, contentType: contentTypeOf(attempt) }) };
}

/** See {@link ShownAnswer.notReceived}. */
export function wasNotReceived(answer: Pick<AdvisedAnswer, "status" | "outcome" | "contentType">): boolean {
  return answer.outcome === null && judgeAnswer(answer) === "good" && isHtml(answer.contentType);
}

/** What an answer is called where it is shown; that of another program is no success. */
export function judgeShown(answer: ShownAnswer, sent: SentAs = "delivery"): AnswerJudgement {
  return answer.notReceived ? "warn" : judgeAnswer(answer, sent);
}

/** What the answer of an attempt shows of the program that made it. */
export function seenAnswer(
  attempt: Pick<CaptureAttempt, "status" | "headers" | "target" | "at" | "ms">,
): Pick<AdvisedAnswer, "status" | "outcome" | "contentType" | "clockAheadMs" | "target"> {
  const { headers, target, at, ms } = attempt;
  const date = Date.parse(headerOf(headers, "date") ?? "");
  return {
    ...answerHead(attempt),
    contentType: contentTypeOf(attempt),
    clockAheadMs: Number.isNaN(date) ? null : date - (Date.parse(at) + ms),
    target,
  };
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

function isHtml(contentType: string | null): boolean {
  return /^text\/html\b/i.test(contentType ?? "");
}

function contentTypeOf({ headers }: Pick<CaptureAttempt, "headers">): string | null {
  return headerOf(headers, "content-type") ?? null;
}

function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** The time of an answer may be that of a proxy, so one that is right does not rule out the app's clock. */
function whyUnverified(clockAheadMs: number | null, secretRef: string | null | undefined): string {
  const offMs = Math.abs(clockAheadMs ?? 0);
  if (offMs > LIMITS.toleranceSeconds * SECOND) {
    const direction = (clockAheadMs ?? 0) > 0 ? "ahead of" : "behind";
    return `The app's clock is ${Math.round(offMs / MINUTE)} minutes ${direction} this machine's, more than the ${TOLERANCE} minutes that it accepts: set both clocks.`;
  }
  return `The app has another secret than ${secretRef ?? "the one that signed this"}: give both the same WEBHOOK_SECRET. Or its clock is over ${TOLERANCE} minutes off.`;
}

const TOLERANCE = (LIMITS.toleranceSeconds * SECOND) / MINUTE;

/** Outcomes that are a mistake of the app, and not of the sender. */
const OUTCOMES: ReadonlyMap<string, string> = new Map([
  [
    "body_consumed",
    "Another parser of the app read the body first: mount the receiver above express.json() and the like.",
  ],
  ["not_started", "The app did not call receiver.start(), or it has not ended: await it before the app listens."],
]);
