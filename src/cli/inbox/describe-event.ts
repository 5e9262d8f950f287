import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControls } from "../../base/text.js";
import { describeAttempts, describeRetry } from "../../operator/describe-work.js";
import type { TimelineEntry } from "../../operator/event-timeline.js";
import type { EventDetail, FailedRun, FailedRuns, HandlerDetail, HandlerView } from "../../store/inbox-view.js";
import type { OutboxView } from "../../store/outbox.js";
import { clip, countOf, formatJson } from "../frame/format.js";
import type { Paint } from "../frame/output.js";
import { describeContactEvent } from "../values/describe-contact-event.js";
import { paintWork } from "../values/event-work.js";

/** Of a line of the time line; errors are shown in full above it. */
const MAX_ENTRY = 300;
/** Of a key of a contact event, which is in full above it too. */
const MAX_KEY = 16;
const NO_TIME = "time not kept".padEnd(24);
const BAD: ReadonlySet<TimelineEntry["kind"]> = new Set(["failed", "dead"]);

/** An event with what is known of its life in the receiver's database. */
export interface EventLife {
  event: EventDetail;
  /** Those that its handlers recorded, newest first. */
  contactEvents: readonly OutboxView[];
  /** Of the call that fails and keeps back all others; undefined while none does. */
  inFront: OutboxView | undefined;
  /** Oldest first. */
  timeline: readonly TimelineEntry[];
}

/** An event as lines for a person; texts that others wrote are escaped. */
export function describeEvent(
  { event, contactEvents, inFront, timeline }: EventLife,
  body: string | null,
  paint: Paint,
): string {
  const lines = [
    `id        ${escapeControls(event.id)}`,
    `type      ${escapeControls(event.type)}${event.test ? "  (test event)" : ""}`,
    `received  ${event.receivedAt}`,
    `signed    ${event.signedAt}`,
    `state     ${paintWork(event.state, paint)}`,
    ...event.handlers.flatMap((handler) => describeHandler(handler, paint)),
    ...(contactEvents.length === 0 ? [] : ["contact events"]),
    ...contactEvents.flatMap((view) => describeContactEvent(view, { inFront, paint })),
    "time line",
    ...timeline.map((entry) => describeEntry(entry, paint)),
    "",
    body === null ? paint.dim("The body was dropped by retention or erased.") : formatJson(body),
  ];
  return lines.join("\n");
}

function describeHandler(view: HandlerDetail, paint: Paint): string[] {
  const { handler, reason, error, failed, steps } = view;
  const why = reason === null ? "" : ` (${escapeControls(reason)})`;
  const name = handler === NOTE_HANDLER ? "not understood" : escapeControls(handler);
  return [
    `handler   ${name}: ${describeState(view, paint)}${why}${describeRuns(view)}`,
    ...(failed === null || view.waitsFor === "retry_after" || view.state === "discarded"
      ? linesOf(error ?? "")
      : []
    ).map(indent),
    ...(failed === null ? [] : describeFailed(failed)).map(indent),
    ...steps.map(({ name, at }) => indent(`finished step ${escapeControls(name)} (${at})`)),
  ];
}

const indent = (line: string): string => `          ${line}`;

function describeState(view: HandlerView, paint: Paint): string {
  const { state, dueAt } = view;
  return state === "retrying" ? paint.yellow(`… ${describeRetry(view, dueAt)}`) : paintWork(state, paint);
}

function describeRuns(view: HandlerView): string {
  const { handler, state, dueAt, retryRequestedAt, waitsFor } = view;
  if (handler === NOTE_HANDLER) return retryRequestedAt === null ? "" : ", waits to be read again";
  const waits = waitsFor === null ? "" : `, handler waits: ${waitsFor}`;
  if (state === "retrying") return waits;
  return `, ${describeAttempts(view)}${state === "pending" && dueAt !== null ? `, due ${dueAt}` : ""}${waits}`;
}

/** The first and the last error; those between are counted, and the same error is shown once. */
function describeFailed({ first, last }: FailedRuns): string[] {
  const between = last.attempt - first.attempt - 1;
  if (between < 0) return [`${nameOfRun(first)}:`, ...linesOf(first.stack)];
  const counted = between === 0 ? [] : [`${countOf(between, "more failed attempt")} between`];
  if (first.stack === last.stack) {
    return [`${nameOfRun(first)}, and the same at ${nameOfRun(last)}:`, ...linesOf(first.stack), ...counted];
  }
  return [`${nameOfRun(first)}:`, ...linesOf(first.stack), ...counted, `${nameOfRun(last)}:`, ...linesOf(last.stack)];
}

function nameOfRun({ attempt, at }: FailedRun): string {
  return `attempt ${attempt} (${at})`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n").map(escapeControls);
}

function describeEntry({ kind, at, attempt, text, key }: TimelineEntry, paint: Paint): string {
  const what = clip(text, MAX_ENTRY);
  const run = kind === "failed" && attempt !== null ? paint.dim(`  run ${attempt}`) : "";
  const which = key === null ? "" : paint.dim(`  ${clip(key, MAX_KEY)}`);
  return `  ${paint.dim(at ?? NO_TIME)}  ${BAD.has(kind) ? paint.red(what) : what}${run}${which}`;
}
