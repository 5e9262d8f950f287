import { escapeControls } from "../../base/text.js";
import { waitsBehind } from "../../store/find-in-inbox.js";
import type { OutboxView } from "../../store/outbox.js";
import { countOf } from "../frame/format.js";
import type { Paint } from "../frame/output.js";
import { paintWork } from "./event-work.js";

/** A contact event that a handler recorded, with what the API made of it. */
export function describeContactEvent(
  view: OutboxView,
  { inFront, paint }: { inFront: OutboxView | undefined; paint: Paint },
): string[] {
  const { key, name, contact, state, reason, error, code, param, message } = view;
  const subject = `${name === "" ? "(erased)" : name}${contact === "" ? "" : ` for ${contact}`}`;
  // In place of the service's message, a discarded one has the word again.
  const answer = [code, param, state === "discarded" ? null : message];
  const details = [
    ["key", key],
    ["answer", answer.filter((part) => part !== null && part !== "").join(" · ")],
    ["error", error ?? ""],
    ["why", describeCallInFront(view, inFront) ?? ""],
    ["call", describeUnsureCall(view) ?? ""],
  ].filter(([, value]) => value !== "");
  const rest = `${reason === null ? "" : ` (${reason})`}, ${factsOf(view, inFront).join(", ")}`;
  return [
    `  ${escapeControls(subject)}: ${paintWork(state, paint)}${escapeControls(rest)}`,
    ...details.map(([label = "", value = ""]) => `    ${label.padEnd(6)}  ${escapeControls(value)}`),
  ];
}

function factsOf(view: OutboxView, inFront: OutboxView | undefined): string[] {
  const { attempts, state, remoteId, recordedAt, settledAt } = view;
  const next = nextTry(view, inFront);
  return [
    countOf(attempts, "attempt"),
    ...(next === undefined ? [] : [state === "running" ? next : `next try ${next}`]),
    ...(remoteId === null ? [] : [`stored as ${remoteId}`]),
    settledAt === null ? `recorded ${recordedAt}` : `settled ${settledAt}`,
  ];
}

/** Undefined for an event that can go out by itself. */
export function describeUnsureCall({ callEvents }: OutboxView): string | undefined {
  if (callEvents === null) return undefined;
  return `may have arrived; a retry repeats it as it was, with ${countOf(callEvents, "event")}`;
}

/** Why a contact event waits; undefined where no call in front fails. */
export function describeCallInFront(event: OutboxView, inFront: OutboxView | undefined): string | undefined {
  if (inFront === undefined || !waitsBehind(event, inFront)) return undefined;
  return `waits behind the call of ${inFront.key}, which fails: ${inFront.error}`;
}

/**
 * `now` for an event that a receiver sends as soon as one runs, `later` where the call in front fails; undefined for
 * one that is not sent again.
 */
export function nextTry(event: OutboxView, inFront: OutboxView | undefined): string | undefined {
  const { state, dueAt } = event;
  if (waitsBehind(event, inFront)) return "later";
  if (dueAt !== null) return Date.parse(dueAt) <= Date.now() ? "now" : dueAt;
  if (state === "pending") return "now";
  return state === "running" ? "being sent" : undefined;
}
