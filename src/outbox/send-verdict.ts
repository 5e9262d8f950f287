import { ApiError, InvalidInputError } from "../client/errors.js";
import { MINUTE } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import type { EventResult, FrozenSend, OutboxDeadReason } from "../store/outbox.js";

const YOUNG_MS = 5 * MINUTE;

/** What a failed call means for its events. */
export type SendVerdict =
  /** The cause is not in the events, or is unknown: the same call again, later. */
  | { kind: "retry"; afterMs: number | undefined; error: string; isConfiguration: boolean }
  /** Nothing of the call was ever stored: the event that was named is dead, the rest goes into another call. */
  | { kind: "refused"; results: EventResult[] }
  /** Refused or too old by now, with the outcome of earlier tries unknown: the call may only be repeated unchanged. */
  | {
      kind: "given_up";
      reason: OutboxDeadReason;
      code: string | undefined;
      param: string | undefined;
      message: string;
    };

/** Codes for a body that breaks a rule. It is the same in every try, so none of them was taken. */
const BODY_CODES: ReadonlySet<string> = new Set(["invalid_event", "invalid_parameter", "unknown_parameter"]);

/** Statuses by which the service refuses a call whole. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 413, 422]);

/** The service has stored something under the key of the call. */
const KEY_IN_USE = "idempotency_key_reuse";

/** Codes that the client gives to an answer without one: it came from a proxy or another program, not the service. */
const CODES_OF_OTHERS: ReadonlySet<string> = new Set(["invalid_answer", "answer_too_large", "unknown_error"]);

/** Reads from the error of a call how to settle it. */
export function judgeFailure(error: unknown, send: FrozenSend, nowMs: number): SendVerdict {
  if (error instanceof InvalidInputError) {
    const { param = "", code, message } = error;
    // An earlier try passed these rules, which may be stricter after an update.
    if (send.attempt > 1) return { kind: "given_up", reason: "refused", code, param, message };
    return { kind: "refused", results: blame(send, { code, param, message }) };
  }
  if (!(error instanceof ApiError)) return retry(error);
  // The service's documents name no 409 for these calls, so it is of the moment; see docs/service.md#event-errors.
  if (error.retryable || error.status === 409) return { ...retry(error), afterMs: error.retryAfterMs };
  if (isForConfiguration(error)) return { ...retry(error), isConfiguration: true };
  const { code, param = "", message } = error;
  const [only] = send.events;
  const isAboutTime = param.endsWith("occurredAt");
  if (only !== undefined && send.kind === "single" && (isAboutTime || param === "")) {
    if (mayBeClockSkew(code, only.occurredAt, nowMs)) return retry(error);
  }
  // The rule about the age is the one that an earlier try may have passed.
  const mayHavePassed = code === "invalid_event" && isAboutTime && send.attempt > 1;
  const isSameInEachTry = BODY_CODES.has(code) && !mayHavePassed;
  if (!isSameInEachTry && !isFirstAnswer(error, send))
    return { kind: "given_up", reason: mayHavePassed ? "too_old" : "refused", code, param, message };
  return { kind: "refused", results: blame(send, { code, param, message }) };
}

/** True when the service refused the call whole and no try before could have arrived: nothing of it was taken. */
function isFirstAnswer({ status, code, attempts }: ApiError, send: FrozenSend): boolean {
  if (send.attempt > 1 || attempts !== 1 || code === KEY_IN_USE) return false;
  return REFUSALS.has(status);
}

/** A wrong key, a missing scope, a wrong address: a person fixes that, and the events are still valid. */
function isForConfiguration({ status, code }: ApiError): boolean {
  if (status < 400 || status === 401 || status === 403 || status === 405) return true;
  if (status === 404) return code !== "contact_not_found";
  return CODES_OF_OTHERS.has(code);
}

/**
 * True for an event so young that "in the future" may be all that is wrong with it: our clock runs ahead of the
 * service's, which in a batch does not say which rule of `invalid_event` was broken. A later try shows it. One of a
 * clock that was set back since stays in the future, and is not young.
 */
export function mayBeClockSkew(code: string, occurredAt: number, nowMs: number): boolean {
  return code === "invalid_event" && Math.abs(nowMs - occurredAt) < YOUNG_MS;
}

function retry(error: unknown): Extract<SendVerdict, { kind: "retry" }> {
  return { kind: "retry", afterMs: undefined, error: describe(error), isConfiguration: false };
}

/** The error's text for the outbox. That of an `apiKey` function may quote a secret, so it is not stored. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "A value that is not an Error was thrown.";
  if (error instanceof PigeonholeError) return `${error.name}: ${error.message}`;
  return `${error.name}: The call was not sent, or its answer not read; the message may hold a secret and is not kept.`;
}

/** A batch of the wrong shape is refused whole and nothing of it stored, so the rest may be sent under another key. */
function blame(send: FrozenSend, refusal: { code: string; param: string; message: string }): EventResult[] {
  const index = /^events\.(\d+)\b/.exec(refusal.param)?.[1];
  const culprit = index === undefined ? undefined : send.events[Number(index)];
  return send.events.map(({ seq }): EventResult => {
    if (culprit !== undefined && culprit.seq !== seq) return { seq, to: "again" };
    return { seq, to: "dead", reason: "refused", ...refusal };
  });
}
