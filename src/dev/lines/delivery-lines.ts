import { escapeControls } from "../../base/text.js";
import {
  type AnswerHead,
  type AnswerJudgement,
  answerHead,
  describeAnswer,
  judgeAnswer,
  type SentAs,
  whyNotRun,
} from "../../capture/model/answer.js";
import { FORWARD_FLAG, answerAdvice, judgeAdvised, seenAnswer } from "../../capture/model/answer-advice.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import type { CaptureAttempt, CaptureSummary, VerdictCode } from "../../capture/model/capture.js";
import { isRetryableStatus } from "../../protocol/retry-schedule.js";
import type { DevEvent } from "./dev-event.js";
import { type EventLine, type Part, type Tone, clockTime, lineBelow } from "./event-line.js";

const TYPE_WIDTH = 24;
const VERDICT_WIDTH = 12;
/** Of `503 unverified`; longer outcomes are rare. */
const ANSWER_WIDTH = 14;

/** The kinds of events of a delivery, and of one that was sent again. */
export type DeliveryEvent = Extract<DevEvent, { kind: "forwarded" | "received" | "app_down" | "replayed" }>;

/** What became of a delivery, and what to change if its answer shows that. Narrow: only time, type and status. */
export function deliveryLines(event: DeliveryEvent, nowMs: number, isNarrow: boolean): EventLine[] {
  const parts = rowParts(rowOf(event, nowMs), isNarrow);
  const advice = adviceOf(event);
  return [{ parts }, ...(advice === undefined ? [] : [lineBelow("warn", `! ${escapeControls(advice)}`)])];
}

/** The event type, as wide in each line. */
export function typeColumn({ type }: CaptureSummary): string {
  return `  ${escapeControls(type ?? "(no type)").padEnd(TYPE_WIDTH)} `;
}

function rowOf(event: DeliveryEvent, nowMs: number): RowInput {
  switch (event.kind) {
    case "forwarded":
      return { ...delivery(event), note: joinNotes(verdictNote(event.verdict), escapeControls(event.capture.subject)) };
    case "received":
      return { ...delivery(event), note: notTaken(event.answer) ?? "kept, not forwarded" };
    case "app_down":
      return { ...delivery(event), note: escapeControls(event.attempt.error ?? "the app is down") };
    case "replayed":
      return replay(event, nowMs);
  }
}

/** None on what the app did not answer. */
function adviceOf(event: DeliveryEvent): string | undefined {
  switch (event.kind) {
    case "forwarded":
      return adviceOn(event.attempt, event.verdict);
    case "replayed":
      return adviceOn(event.attempt);
    case "received":
    case "app_down":
      return undefined;
  }
}

function rowParts(input: RowInput, isNarrow: boolean): Part[] {
  const { capture, sign, answer, ms, note } = input;
  const time: Part = ["dim", clockTime(input.at)];
  const tone = toneOf(input);
  const shown = joinNotes(whyNotRun(answer, input.sent) ?? "", note);
  const text = answer.status === null ? "–" : escapeControls(describeAnswer(answer));
  if (isNarrow) {
    return [time, ["plain", ` ${escapeControls(capture.type ?? "(no type)")} `], [tone, text]];
  }
  return [
    time,
    ["plain", typeColumn(capture)],
    [sign.tone, sign.text.padEnd(VERDICT_WIDTH)],
    ["plain", " "],
    [tone, text.padStart(3).padEnd(ANSWER_WIDTH)],
    ["dim", ` ${(ms === null ? "" : `${ms}ms`).padStart(7)}`],
    ["dim", `  ${captureHandle(capture.id)}`],
    ["plain", shown === "" ? "" : `  ${shown}`],
  ];
}

interface RowInput {
  capture: CaptureSummary;
  at: number;
  sign: { tone: Tone; text: string };
  /** What the sender, or a replay, was answered. */
  answer: AnswerHead;
  sent: SentAs;
  judgement: AnswerJudgement;
  ms: number | null;
  note: string;
}

type DeliveryLike = Extract<DevEvent, { verdict: unknown }>;

function delivery(event: DeliveryLike): Omit<RowInput, "note"> {
  const { capture, verdict, answer } = event;
  const made = event.kind === "forwarded" ? event.attempt : undefined;
  const head = { status: answer, outcome: made === undefined ? null : answerHead(made).outcome };
  const sign = VERDICT_SIGNS[verdict.code];
  const at = Date.parse(capture.receivedAt);
  const ms = "attempt" in event ? event.attempt.ms : null;
  const judgement = judgeAdvised(judgeAnswer(head), made && adviceOn(made, verdict));
  // The sign of a good signature would read as success.
  const isMisleading = verdict.code === "ok" && judgement !== "good";
  const shown: RowInput["sign"] = isMisleading ? { tone: "warn", text: "! signed" } : sign;
  return { capture, at, sign: shown, answer: head, sent: "delivery", judgement, ms };
}

function replay({ capture, attempt }: Extract<DevEvent, { kind: "replayed" }>, at: number): RowInput {
  const sign: RowInput["sign"] = { tone: "plain", text: attempt.mode === "resign" ? "↻ re-signed" : "↻ exact" };
  const answer = answerHead(attempt);
  const judgement = judgeAdvised(judgeAnswer(answer, "replay"), adviceOn(attempt));
  return { capture, at, sign, answer, sent: "replay", judgement, ms: attempt.ms, note: `replay, attempt ${attempt.n}` };
}

function adviceOn(attempt: CaptureAttempt, verdict?: DeliveryLike["verdict"]): string | undefined {
  return answerAdvice({
    ...seenAnswer(attempt),
    isSigned: attempt.mode === "resign" || verdict?.code === "ok",
    secretRef: verdict?.secretRef,
    pathFlag: FORWARD_FLAG,
  });
}

const VERDICT_SIGNS: Readonly<Record<VerdictCode, { tone: Tone; text: string }>> = {
  ok: { tone: "good", text: "✓ signed" },
  stale: { tone: "warn", text: "✗ stale" },
  mismatch: { tone: "bad", text: "✗ mismatch" },
  missing: { tone: "bad", text: "✗ unsigned" },
  malformed: { tone: "bad", text: "✗ malformed" },
};

function verdictNote({ code, skewSeconds, summary }: DeliveryLike["verdict"]): string {
  if (code === "ok") return "";
  if (code !== "stale" || skewSeconds === null) return escapeControls(summary);
  return skewSeconds < 0 ? `${-skewSeconds} s old` : `${skewSeconds} s ahead`;
}

function joinNotes(...notes: string[]): string {
  return notes.filter((text) => text !== "").join(" · ");
}

/** Neither the app nor the disk has it, and the sender knows. */
function notTaken(answer: number): string | undefined {
  return isRetryableStatus(answer) ? "not taken; the service sends it again" : undefined;
}

function toneOf({ answer, judgement }: Pick<RowInput, "answer" | "judgement">): Tone {
  if (judgement !== "bad") return judgement === "good" ? "good" : "warn";
  return answer.status === null || answer.status >= 500 ? "bad" : "warn";
}
