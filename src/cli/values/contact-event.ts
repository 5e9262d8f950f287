import { isoTime } from "../../base/iso-time.js";
import type { OutboxView } from "../../store/outbox.js";
import { countOf } from "../frame/format.js";

/** Undefined for an event that can go out by itself. */
export function describeUnsureCall({ callEvents }: OutboxView): string | undefined {
  if (callEvents === undefined) return undefined;
  return `may have arrived; a retry repeats it as it was, with ${countOf(callEvents, "event")}`;
}

/** A contact event for programs. */
export function contactEventRecord(event: OutboxView): Record<string, unknown> {
  const { key, state, recordedAt, occurredAt, settledAt, attempts, dueAt, error, body } = event;
  const { remoteId, reason, code, param, message, inboxEventId, call, callEvents } = event;
  return {
    key,
    state,
    recordedAt: isoTime(recordedAt),
    occurredAt: isoTime(occurredAt),
    settledAt: isoTime(settledAt),
    attempts,
    dueAt: isoTime(dueAt),
    error: error ?? null,
    remoteId: remoteId ?? null,
    reason: reason ?? null,
    code: code ?? null,
    param: param ?? null,
    message: message ?? null,
    inboxEventId: inboxEventId ?? null,
    call: call ?? null,
    callEvents: callEvents ?? null,
    event: JSON.parse(body) as unknown,
  };
}

/** `now` for an event that a receiver sends as soon as one runs; undefined for one that is not sent again. */
export function nextTry({ state, dueAt }: OutboxView): string | undefined {
  if (dueAt !== undefined) return dueAt <= Date.now() ? "now" : new Date(dueAt).toISOString();
  if (state === "pending") return "now";
  return state === "leased" ? "being sent" : undefined;
}
