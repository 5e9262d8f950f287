import { describeAnswer, whyNotRun } from "../../capture/model/answer.js";
import { judgeShown } from "../../capture/model/answer-advice.js";
import { describeWork } from "../../operator/describe-work.js";
import { isStopped, runsAgain } from "../../operator/states.js";
import type { CaptureDetail } from "../../dev/api/page-api.js";
import type { EventView } from "../../store/inbox-view.js";
import { LIMITS, isLate } from "../../protocol/limits.js";
import { SECOND } from "../../base/duration.js";

/** What is wrong, in one sentence. */
export interface Finding {
  tone: "bad" | "warn" | "good";
  text: string;
}

/** The first thing that is wrong with a delivery: in its signature, in the answer of the app, or in its handlers. */
export interface Diagnosis extends Finding {
  /** Where the page shows it. */
  tab: "signature" | "answer" | "handlers" | "attempts";
  remedy: "secret" | "replay" | "none" | EventView;
}

/** Undefined where nothing is wrong. `event`: what the handlers made of it, if that is known. */
export function diagnose(detail: CaptureDetail, event: EventView | undefined): Diagnosis | undefined {
  return ofSignature(detail, event) ?? ofAnswer(detail, event) ?? ofWork(event);
}

function ofSignature(detail: CaptureDetail, event: EventView | undefined): Diagnosis | undefined {
  const { capture, summary, signature } = detail;
  const { code } = capture.verify;
  if (code === "ok") return undefined;
  const tone = code === "stale" ? "warn" : "bad";
  // A replay that was taken leaves what else is wrong, such as an event that is parked.
  if (summary.resigned && judgeShown(summary) !== "bad") {
    const accepted = { tab: "attempts", tone: "good", text: RESIGNED, remedy: "none" } as const;
    return ofAnswer(detail, event) ?? ofWork(event) ?? accepted;
  }
  const text = signature.findings[0]?.message ?? signature.summary;
  return { tab: "signature", tone, text, remedy: code === "mismatch" ? "secret" : "replay" };
}

const RESIGNED = "The signature did not verify as it came. The replay was signed again, and the app accepted it.";

function ofAnswer({ summary }: CaptureDetail, event: EventView | undefined): Diagnosis | undefined {
  const { status, error, ms, notReceived } = summary;
  if (status === null && error === null) return undefined;
  const wrong = { tab: "answer", tone: "bad", remedy: "replay" } as const;
  if (error !== null) return { ...wrong, text: `The app did not answer: ${error}` };
  if (notReceived) return { ...wrong, text: "An HTML page answered: no receiver took the delivery." };
  if (judgeShown(summary) === "bad") return { ...wrong, text: `The app answered ${describeAnswer(summary)}.` };
  if (ms !== null && isLate(ms)) return { ...wrong, tone: "warn", text: describeLate(ms) };
  if (summary.outcome !== "parked" || event !== undefined) return undefined;
  return { tab: "answer", tone: "warn", text: `${whyNotRun(summary, "delivery")}.`, remedy: "none" };
}

/** Such as `The answer took 7.0 s. The service waits 5 s, counts a failure and sends the event again.` */
export function describeLate(ms: number): string {
  const [took, waits] = [ms / SECOND, LIMITS.deliveryTimeoutMs / SECOND];
  return `The answer took ${took.toFixed(1)} s. The service waits ${waits} s, counts a failure and sends the event again.`;
}

function ofWork(event: EventView | undefined): Diagnosis | undefined {
  const found = event === undefined ? undefined : diagnoseWork(event);
  return event === undefined || found === undefined ? undefined : { tab: "handlers", ...found, remedy: event };
}

/** What is wrong with the work of handlers: one that has given up before one that runs again. */
export function diagnoseWork({ handlers }: Pick<EventView, "handlers">): Finding | undefined {
  const stopped = handlers.find(isStopped);
  const wrong = stopped ?? handlers.find(runsAgain);
  if (wrong === undefined) return undefined;
  const [text = ""] = describeWork(wrong).split("\n");
  return { tone: stopped?.state === "dead" ? "bad" : "warn", text };
}
