import { MINUTE, SECOND } from "../base/duration.js";

/** What became of one delivery. Exactly one per request; it alone decides the answer. */
export type Outcome =
  /** Committed now; handlers run later. */
  | { kind: "accepted"; eventId: string; eventType: string }
  /**
   * Already in the inbox. `otherBytes`: this body differs and is not kept; the first was handled, discarded or waits.
   */
  | { kind: "duplicate"; eventId: string; otherBytes: boolean }
  /** Genuine but not understood: committed as received, for a code fix and a retry. */
  | { kind: "parked"; eventId: string; reason: ParkReason }
  /** Neither a signature header nor a timestamp header: not from the service. */
  | { kind: "unsigned" }
  /**
   * A signature header that cannot be read, or a timestamp header without it: the layout is assumed, so the event may
   * be genuine.
   */
  | { kind: "unreadable" }
  /** A readable signature that no secret made, or a genuine one outside the time window. */
  | { kind: "unverified"; reason: "mismatch" | "stale" | "early" }
  /** No known secret fits, and where they are kept they cannot be read now: neither genuine nor forged. */
  | { kind: "secrets_unavailable" }
  | { kind: "wrong_method" }
  | { kind: "unsupported_encoding" }
  | { kind: "too_large" }
  /** The body did not arrive in time. */
  | { kind: "body_timeout" }
  /** The sender disconnected before the body was complete and cannot be answered. */
  | { kind: "body_aborted" }
  /** Another parser read the body first, so the signed bytes are gone. */
  | { kind: "body_consumed" }
  /** start() was not called, or has not finished. */
  | { kind: "not_started" }
  | { kind: "stopping" }
  /** The receiver has the role `work`, which takes no deliveries. */
  | { kind: "not_accepting" }
  /** Too many deliveries wait for the disk, one of them for too long, or there is no memory for one more body. */
  | { kind: "overloaded" }
  /** The database is locked, full or broken. */
  | { kind: "store_unavailable"; reason: "busy" | "full" | "failed" }
  /** An error in this package; the log has it. */
  | { kind: "internal_error" };

/** The name of an outcome, such as `accepted`. */
export type OutcomeKind = Outcome["kind"];

/** Why a genuine delivery could not be handed to a handler. */
export type ParkReason = "not_json" | "bad_envelope" | "unknown_type" | "bad_data";

/** What the service receives. */
export interface Answer {
  /** HTTP status. Which ones the service sends again: docs/service.md#retries. */
  readonly status: number;
  /** Lower-case header names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Plain text for people and tools: the kind of a refusal, empty for 2xx. */
  readonly body: string;
}

/** Response header with the kind of the outcome, for people and tools; the service ignores it. */
export const OUTCOME_HEADER = "x-pigeonhole-outcome";

interface Row {
  status: number;
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

/**
 * Outcome → answer. The service retries when it gets no answer, or a 408, 425, 429 or 5xx (docs/service.md#retries).
 * Every other 4xx and every 3xx loses the event, and 410 switches the endpoint off. So anything that may be our own
 * error is 503, with a Retry-After that is kept small because the service stretches its waits to it.
 */
export const ANSWERS: Record<OutcomeKind, Row> = {
  accepted: { status: 200 },
  duplicate: { status: 200 },
  parked: { status: 200 },
  unsigned: { status: 401 },
  unreadable: { status: 503, retryAfterMs: MINUTE },
  unverified: { status: 503, retryAfterMs: MINUTE },
  secrets_unavailable: { status: 503, retryAfterMs: MINUTE },
  wrong_method: { status: 405, headers: { allow: "POST" } },
  unsupported_encoding: { status: 415 },
  too_large: { status: 413 },
  body_timeout: { status: 408, headers: { connection: "close" } },
  body_aborted: { status: 408, headers: { connection: "close" } },
  body_consumed: { status: 503, retryAfterMs: MINUTE },
  not_started: { status: 503, retryAfterMs: 30 * SECOND },
  // Closes the connection: on a kept one the next attempts would come here again, and keep the process from its end.
  stopping: { status: 503, retryAfterMs: 30 * SECOND, headers: { connection: "close" } },
  not_accepting: { status: 503, retryAfterMs: 30 * SECOND },
  overloaded: { status: 503, retryAfterMs: 30 * SECOND },
  store_unavailable: { status: 503, retryAfterMs: 30 * SECOND },
  internal_error: { status: 503, retryAfterMs: MINUTE },
};

/**
 * The answer to a delivery whose signature cannot be verified: 503, so that a rotation or a wrong assumption loses
 * nothing, or 401.
 */
export type UnverifiedPolicy = "retry" | "reject";

const REJECTED: Row = { status: 401 };

// Written once: an answer depends on the kind of its outcome alone.
const WRITTEN: Record<UnverifiedPolicy, Record<OutcomeKind, Answer>> = {
  retry: writeAnswers(ANSWERS),
  reject: writeAnswers({ ...ANSWERS, unverified: REJECTED, unreadable: REJECTED }),
};

/** The answer for an outcome. Nothing else sets a status. */
export function answerFor(outcome: Outcome, unverified: UnverifiedPolicy): Answer {
  return WRITTEN[unverified][outcome.kind];
}

function writeAnswers(rows: Record<OutcomeKind, Row>): Record<OutcomeKind, Answer> {
  const answers = Object.entries(rows).map(([kind, row]) => [kind, writeAnswer(kind, row)]);
  return Object.fromEntries(answers) as Record<OutcomeKind, Answer>;
}

function writeAnswer(kind: string, { status, retryAfterMs, headers: own }: Row): Answer {
  const headers: Record<string, string> = { ...own, [OUTCOME_HEADER]: kind };
  if (retryAfterMs !== undefined) headers["retry-after"] = String(retryAfterMs / SECOND);
  return { status, headers, body: status < 300 ? "" : kind };
}
