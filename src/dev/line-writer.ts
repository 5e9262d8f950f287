import { NOTE_HANDLER } from "../base/note-handler.js";
import type { CaptureAttempt, CaptureSummary, VerdictCode } from "../capture/model/capture.js";
import {
  type AnswerHead,
  type AnswerJudgement,
  answerHead,
  describeAnswer,
  judgeAnswer,
  type SentAs,
  whyNotRun,
} from "../capture/model/answer.js";
import { describeRetry } from "../capture/model/describe-work.js";
import { FORWARD_FLAG, answerAdvice, judgeAdvised, seenAnswer } from "../capture/model/answer-advice.js";
import { captureHandle } from "../capture/model/capture-handle.js";
import { escapeControls, quoteForShell } from "../base/text.js";
import { isRetryableStatus } from "../protocol/retry-schedule.js";
import type { DevEvent } from "./dev-event.js";

/**
 * The kind of a piece of a line, from which a printer may choose a colour. Colour is never the only sign: every line
 * has a symbol and words.
 */
export type Tone = "good" | "bad" | "warn" | "dim" | "strong" | "plain";

/** Adds colour to text without changing its characters. */
export type TonePaint = (tone: Tone, text: string) => string;

export interface LineWriterOptions {
  /** @default no colour */
  paint?: TonePaint;
  /**
   * Columns of the terminal, read for every line; lines are cut to it. 0 if the terminal does not know. @default never
   * cut
   */
  columns?: () => number | undefined;
}

/** Below this width only time, type and status are shown. */
const NARROW = 60;
const TYPE_WIDTH = 24;
const VERDICT_WIDTH = 12;
/** Of `503 unverified`; longer outcomes are rare. */
const ANSWER_WIDTH = 14;

/** A part of a line: its tone and its text, already escaped. */
type Part = readonly [tone: Tone, text: string];

const plainPaint: TonePaint = (_, text) => text;

/**
 * Formats the dev server's events as lines for people. Each line about a delivery has its capture's short name, which
 * the page shows and the commands accept. Control characters in untrusted text are escaped.
 */
export function createLineWriter({ paint = plainPaint, columns = () => undefined }: LineWriterOptions = {}) {
  function width(): number {
    const known = columns() ?? 0;
    return known > 0 ? known : Number.MAX_SAFE_INTEGER;
  }

  let isReady = false;
  let inbox: string | null = null;

  function render(parts: readonly Part[]): string {
    let left = width();
    let line = "";
    for (const [tone, text] of parts) {
      if (left <= 0) break;
      const cut = text.length > left ? `${text.slice(0, Math.max(0, left - 1))}…` : text;
      left -= cut.length;
      line += paint(tone, cut);
    }
    return line.trimEnd();
  }

  function row(input: RowInput): string {
    const { capture, sign, answer, ms, note } = input;
    const type = escapeControls(capture.type ?? "(no type)");
    const time: Part = ["dim", clockTime(input.at)];
    const tone = toneOf(input);
    const shown = joinNotes(whyNotRun(answer, input.sent) ?? "", note);
    const text = answer.status === null ? "–" : escapeControls(describeAnswer(answer));
    if (width() < NARROW) return render([time, ["plain", ` ${type} `], [tone, text]]);
    return render([
      time,
      ["plain", `  ${type.padEnd(TYPE_WIDTH)} `],
      [sign.tone, sign.text.padEnd(VERDICT_WIDTH)],
      ["plain", " "],
      [tone, text.padStart(3).padEnd(ANSWER_WIDTH)],
      ["dim", ` ${(ms === null ? "" : `${ms}ms`).padStart(7)}`],
      ["dim", `  ${captureHandle(capture.id)}`],
      ...(shown === "" ? [] : ([["plain", `  ${shown}`]] as const)),
    ]);
  }

  /** The lines of an event; none if it is of no interest. */
  function write(event: DevEvent, nowMs = Date.now()): string[] {
    const info = (tone: Tone, text: string): string[] => [render([[tone, text]])];
    switch (event.kind) {
      case "ready":
        isReady = true;
        inbox = event.inbox;
        // Not cut: part of a URL would be useless.
        return readyLines(event).map((parts) => parts.map(([tone, text]) => paint(tone, text)).join(""));
      case "forwarded":
        return [
          row({ ...delivery(event), note: subjectNote(event.capture, verdictNote(event.verdict)) }),
          ...adviceLines(event.attempt, event.verdict),
        ];
      case "received":
        return [row({ ...delivery(event), note: notTaken(event.answer) ?? "kept, not forwarded" })];
      case "held":
        return [row({ ...delivery(event), note: notTaken(event.answer) ?? heldNote(event.why) })];
      case "app_down":
        return [row({ ...delivery(event), note: escapeControls(event.attempt.error ?? "the app is down") })];
      case "rejected":
        return [row({ ...delivery(event), note: `refused: ${escapeControls(event.verdict.summary)}` })];
      case "delivered":
        return [row({ ...again(event, nowMs), note: "held before, now delivered" }), ...adviceLines(event.attempt)];
      case "replayed":
        return [
          row({ ...again(event, nowMs), note: `replay, attempt ${event.attempt.n}` }),
          ...adviceLines(event.attempt),
        ];
      case "handler_failed":
        return [failureLine(event, nowMs), ...remedyLines(event)];
      case "no_handler":
        return [
          render([
            ["dim", clockTime(nowMs)],
            ["plain", `  ${escapeControls(event.capture.type ?? "(no type)").padEnd(TYPE_WIDTH)} `],
            ["warn", "! no handler got it"],
            ["dim", `  ${captureHandle(event.capture.id)}`],
          ]),
          ...retryLine("Once there is one", event.eventId),
        ];
      case "refused": {
        const { method, path, status, reason, from } = event;
        const what = `${escapeControls(method)} ${escapeControls(path).slice(0, 80)}`;
        return [
          render([
            ["dim", clockTime(nowMs)],
            ["warn", `  ! ${status} ${reason.replaceAll("_", " ")}: `],
            ["plain", `${what} from ${escapeControls(from)}`],
          ]),
        ];
      }
      case "paused":
        return info("warn", "Forwarding is paused; deliveries are kept.");
      case "resumed":
        return info("good", "Forwarding continues.");
      case "tunnel":
        // The first URL is in the lines of the start. A later one is shown here.
        return event.state === "up" && !isReady ? [] : info("plain", tunnelLine(event));
      case "registered":
        return info("plain", `Registered ${event.endpointId} at the service; removed on exit.`);
      case "registration_moved":
        return info("plain", `The endpoint ${event.endpointId} now points to ${escapeControls(event.url)}`);
      case "swept":
        return info("plain", `Removed endpoints that a crashed run had left: ${event.endpointIds.join(", ")}`);
      case "unregistered":
        return info("plain", `Removed the endpoint ${event.endpointId} at the service.`);
      case "problem":
        return [
          // Several lines if the last output of a tunnel is quoted.
          ...event.what.split("\n").map((line) => render([["bad", `! ${escapeControls(line)}`]])),
          ...(event.fix === null ? [] : [render([["plain", `  ${escapeControls(event.fix)}`]])]),
        ];
      case "closed":
        return [];
    }
  }

  /** Not cut: half of an advice would be useless. */
  function adviceLines(attempt: CaptureAttempt, verdict?: DeliveryLike["verdict"]): string[] {
    const advice = adviceOn(attempt, verdict);
    return advice === undefined ? [] : [`          ${paint("warn", `! ${escapeControls(advice)}`)}`];
  }

  /** How work that has stopped goes on. Not cut: half of a command would be useless. */
  function remedyLines({ eventId, nextAt }: Extract<DevEvent, { kind: "handler_failed" }>): string[] {
    return nextAt === null ? retryLine("After a fix", eventId) : [];
  }

  function retryLine(when: string, eventId: string): string[] {
    if (inbox === null) return [];
    const command = `npx pigeonhole inbox retry ${quoteForShell(eventId)} --db ${quoteForShell(inbox)}`;
    return [`          ${paint("dim", `${when}: ${escapeControls(command)}`)}`];
  }

  function failureLine(event: Extract<DevEvent, { kind: "handler_failed" }>, nowMs: number): string {
    const { capture, handler, state, reason, error, nextAt } = event;
    const isFinal = nextAt === null;
    const name = handler === NOTE_HANDLER ? "event" : `handler ${escapeControls(handler)}`;
    const what = isFinal ? state : describeRetry(event, clockTime(Date.parse(nextAt)));
    const why = [reason, error]
      .filter((text) => text !== null)
      .map(escapeControls)
      .join(": ");
    return render([
      ["dim", clockTime(nowMs)],
      ["plain", `  ${escapeControls(capture.type ?? "(no type)").padEnd(TYPE_WIDTH)} `],
      [isFinal && state === "dead" ? "bad" : "warn", `${isFinal && state === "dead" ? "✗" : "!"} ${name} ${what}`],
      ["dim", `  ${captureHandle(capture.id)}`],
      ["plain", why === "" ? "" : `  ${why}`],
    ]);
  }

  return { write };
}

/** The event as one JSON line for programs, with the version of its shape, and the outcome of its attempt. */
export function formatJsonLine(event: DevEvent, nowMs = Date.now()): string {
  const outcome = "attempt" in event ? { outcome: answerHead(event.attempt).outcome } : {};
  const line = JSON.stringify({ schemaVersion: 1, at: new Date(nowMs).toISOString(), ...event, ...outcome });
  // JSON does not escape these, and the line may be shown on a terminal.
  return escapeControls(line);
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
  const sign = verdictSign(verdict.code);
  const at = Date.parse(capture.receivedAt);
  const ms = "attempt" in event ? event.attempt.ms : null;
  const judgement = judgeAdvised(judgeAnswer(head), made && adviceOn(made, verdict));
  // The sign of a good signature would read as success.
  const isGood = judgement !== "warning" || verdict.code !== "ok";
  const shown: RowInput["sign"] = isGood ? sign : { tone: "warn", text: "! signed" };
  return { capture, at, sign: shown, answer: head, sent: "delivery", judgement, ms };
}

function again(
  { capture, attempt }: { capture: CaptureSummary; attempt: CaptureAttempt },
  nowMs: number,
): Omit<RowInput, "note"> {
  const text = attempt.mode === "resign" ? "↻ re-signed" : "↻ exact";
  const sent = attempt.kind === "replay" ? "replay" : "delivery";
  const answer = answerHead(attempt);
  const judgement = judgeAdvised(judgeAnswer(answer, sent), adviceOn(attempt));
  return { capture, at: nowMs, sign: { tone: "plain", text }, answer, sent, judgement, ms: attempt.ms };
}

function adviceOn(attempt: CaptureAttempt, verdict?: DeliveryLike["verdict"]): string | undefined {
  return answerAdvice({
    ...seenAnswer(attempt),
    isSigned: attempt.mode === "resign" || verdict?.code === "ok",
    secretRef: verdict?.secretRef,
    pathFlag: FORWARD_FLAG,
  });
}

function verdictSign(code: VerdictCode): { tone: Tone; text: string } {
  switch (code) {
    case "ok":
      return { tone: "good", text: "✓ signed" };
    case "stale":
      return { tone: "warn", text: "✗ stale" };
    case "mismatch":
      return { tone: "bad", text: "✗ mismatch" };
    case "missing":
      return { tone: "bad", text: "✗ unsigned" };
    case "malformed":
      return { tone: "bad", text: "✗ malformed" };
  }
}

function verdictNote({ code, skewSeconds, summary }: DeliveryLike["verdict"]): string {
  if (code === "ok") return "";
  if (code !== "stale" || skewSeconds === null) return escapeControls(summary);
  return skewSeconds < 0 ? `${-skewSeconds} s old` : `${skewSeconds} s ahead`;
}

function subjectNote({ subject }: CaptureSummary, note: string): string {
  return joinNotes(note, escapeControls(subject));
}

function joinNotes(...notes: string[]): string {
  return notes.filter((text) => text !== "").join(" · ");
}

function heldNote(why: Extract<DevEvent, { kind: "held" }>["why"]): string {
  switch (why) {
    case "app_down":
      return "held: the app is down";
    case "paused":
      return "held: forwarding is paused";
    case "queued":
      return "held: waits behind earlier ones";
    case "invalid":
      return "held: its signature is invalid";
  }
}

/** Neither the app nor the disk has it, and the sender knows. */
function notTaken(answer: number): string | undefined {
  return isRetryableStatus(answer) ? "not taken; the service sends it again" : undefined;
}

function toneOf({ answer, judgement }: Pick<RowInput, "answer" | "judgement">): Tone {
  switch (judgement) {
    case "good":
      return "good";
    case "warning":
      return "warn";
    case "bad":
      return answer.status === null || answer.status >= 500 ? "bad" : "warn";
  }
}

function tunnelLine(event: Extract<DevEvent, { kind: "tunnel" }>): string {
  switch (event.state) {
    case "starting":
      return `Starting the tunnel ${escapeControls(event.program)} …`;
    case "up":
      return `The tunnel ${escapeControls(event.program)} is up: ${escapeControls(event.publicUrl)}`;
    case "down":
      return `The tunnel ${escapeControls(event.program)} ended; started again in ${(event.restartMs / 1000).toFixed(1)} s.`;
  }
}

function readyLines(ready: Extract<DevEvent, { kind: "ready" }>): Part[][] {
  const field = (name: string, value: string, note = ""): Part[] => [
    ["dim", `  ${name.padEnd(12)}`],
    ["strong", value],
    ...(note === "" ? [] : ([["dim", note]] as const)),
  ];
  return [
    field("Receiving", ready.captureUrl),
    ...(ready.publicUrl === null ? [] : [field("Public", escapeControls(ready.publicUrl))]),
    ...ready.forwards.map(({ types, target }) => field("Forwarding", target, types === "*" ? "" : `  ← ${types}`)),
    ...(ready.forwards.length === 0
      ? [field("Forwarding", "nowhere", "  deliveries are kept; -f 3000 forwards them to port 3000")]
      : []),
    ...inboxLine(ready),
    ...(ready.sandbox === null
      ? []
      : [field("Sandbox", ready.sandbox, "  emulated service; fire events from the page or by POST /sandbox/emit")]),
    ...(ready.pageUrl === null ? [] : [field("Inspect", ready.pageUrl)]),
    field(
      "Secret",
      ready.secrets.length === 0 ? "none" : escapeControls(ready.secrets.join(", ")),
      ready.secrets.length === 0 ? "  signatures are not checked; set WEBHOOK_SECRET or give --secret" : "",
    ),
    ...ready.broken.map(({ file, reason }): Part[] => [
      ["warn", `  ! ${escapeControls(file)}: ${escapeControls(reason)}`],
    ]),
    [["good", "  Ready."]],
  ];
}

function inboxLine({ inbox, forwards }: Extract<DevEvent, { kind: "ready" }>): Part[][] {
  if (inbox === null && forwards.length === 0) return [];
  const name: Part = ["dim", `  ${"Inbox".padEnd(12)}`];
  if (inbox !== null) return [[name, ["strong", escapeControls(inbox)]]];
  return [[name, ["strong", "not known"], ["dim", "  --inbox with the app's database shows what handlers do"]]];
}

/** The time of day on this machine. */
export function clockTime(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
