import { ApiError, InvalidInputError, NoAnswerError } from "../client/errors.js";
import { MINUTE } from "../base/duration.js";
import { OLDEST_EVENT_MS } from "../contract/occurred-at.js";
import type { EventResult, FrozenSend } from "../store/outbox.js";

const YOUNG_MS = 5 * MINUTE;

/** What a failed call means for its events. */
export type SendVerdict =
  /** Not the events' fault, or nobody knows: the same call again, later. */
  | { kind: "retry"; afterMs: number | undefined; error: string; isConfiguration: boolean }
  /** The service has no use for these events; those that it did not blame go into another call. */
  | { kind: "refused"; results: EventResult[] }
  /** Older by now than the service takes, with the outcome of earlier tries unknown. */
  | { kind: "too_old"; message: string };

/** Reads from the error of a call how to settle it. */
export function judgeFailure(error: unknown, send: FrozenSend, nowMs: number): SendVerdict {
  if (error instanceof InvalidInputError) {
    const { param = "", code, message } = error;
    if (param.endsWith("occurredAt")) {
      // Not too old means in the future: the clock was set back since, and time mends that.
      const isOld = send.events.some(({ occurredAt }) => nowMs - occurredAt > OLDEST_EVENT_MS);
      return isOld ? { kind: "too_old", message } : retry(error);
    }
    return { kind: "refused", results: blame(send, { code, param, message }) };
  }
  if (error instanceof NoAnswerError) return retry(error);
  if (!(error instanceof ApiError)) return retry(error);
  if (isWorthRepeating(error.status)) return { ...retry(error), afterMs: error.retryAfterMs };
  // A wrong key, a missing scope, a wrong address: a person mends that, and the events are as good as before.
  if (error.status < 400 || error.status === 401 || error.status === 403) {
    return { ...retry(error), isConfiguration: true };
  }
  const { code, param = "", message } = error;
  const [only] = send.events;
  if (only !== undefined && send.kind === "single" && mayBeClockSkew(code, only.occurredAt, nowMs)) return retry(error);
  return { kind: "refused", results: blame(send, { code, param, message }) };
}

/**
 * True for an event so young that "in the future" may be all that is wrong with it: our clock runs ahead of the service's, which does
 * not say which rule of `invalid_event` was broken. A little later the answer tells.
 */
export function mayBeClockSkew(code: string, occurredAt: number, nowMs: number): boolean {
  return code === "invalid_event" && nowMs - occurredAt < YOUNG_MS;
}

function isWorthRepeating(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

function retry(error: unknown): Extract<SendVerdict, { kind: "retry" }> {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : "A value that is no Error was thrown.";
  return { kind: "retry", afterMs: undefined, error: text, isConfiguration: false };
}

/** A batch of the wrong shape is refused whole and nothing of it stored, so the rest may travel under another key. */
function blame(send: FrozenSend, fault: { code: string; param: string; message: string }): EventResult[] {
  const index = /^events\.(\d+)\b/.exec(fault.param)?.[1];
  const culprit = index === undefined ? undefined : send.events[Number(index)];
  return send.events.map(({ seq }): EventResult => {
    if (culprit !== undefined && culprit.seq !== seq) return { seq, to: "again" };
    return { seq, to: "dead", reason: "refused", ...fault };
  });
}
