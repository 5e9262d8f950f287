import { waitsBehind } from "../../store/call-in-front.js";
import type { OutboxView } from "../../store/outbox.js";
import { countOf } from "../frame/format.js";

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
