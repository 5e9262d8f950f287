import { HOUR, SECOND } from "../base/duration.js";
import type { Client } from "../client/call-types.js";
import { ApiError, AuthenticationError, NoAnswerError, PermissionError, RateLimitError } from "../client/errors.js";
import type { WebhookDelivery } from "../contract/webhook-endpoint.js";
import { MAX_RETRY_SPAN_MS } from "../protocol/retry-schedule.js";

/** An attempt of the service to deliver an event, as its delivery log has it. */
export interface EventAttempt extends WebhookDelivery {
  /** When it began, by the service's clock, in milliseconds since 1970; null when the log does not say. */
  at: number | null;
}

/** Why a log was not read. */
export type UnreadReason =
  /** The key lacks the scope `webhooks:read`. */
  | "no_scope"
  /** The API refused the key, or what it may do. */
  | "key_refused"
  | "rate_limited"
  /** No answer in time, or no connection. */
  | "no_answer"
  /** Any other answer; the path of the log is an assumption. */
  | "other_answer"
  /** The rows do not say of which event they are. */
  | "unnamed_rows";

/** What the delivery log says about one event. */
export type AttemptsReading =
  /** `isWhole` is false when the log may have more rows of that time than were read. The attempts are oldest first. */
  | { kind: "read"; attempts: EventAttempt[]; isWhole: boolean }
  /** `retryAfterMs`: how long the API asks to wait. */
  | { kind: "unread"; reason: UnreadReason; status: number | undefined; retryAfterMs: number | undefined };

/** Whose attempts are looked for, and when at the latest the reading ends. */
export interface AttemptsRequest {
  client: Pick<Client, "webhooks">;
  /** The envelope's `id`. */
  eventId: string;
  /** When the event was stored, in milliseconds since 1970. */
  receivedAt: number;
  /** In milliseconds since 1970. */
  now: number;
  signal: AbortSignal;
}

/** Rows of a page, the most that the API gives. */
const PAGE_ROWS = 100;
/** Rows that are read of each span; a workspace that sends more has more rows than can be looked through. */
const MAX_ROWS = 3 * PAGE_ROWS;
/** An attempt lasts 5 s, and the clocks of the service and of the receiver may differ. */
const AROUND_MS = 30 * SECOND;
const SOON_MS = HOUR;

type LogQuery = NonNullable<Parameters<Client["webhooks"]["allDeliveries"]>[0]>;

/**
 * Looks for the attempts of an event in the delivery log of the workspace: the receiver does not know which of its
 * endpoints it is. The log is not filtered by event, so only rows near the time at which the event was stored are
 * looked at, as far as the retries of docs/service.md#retries reach. Rejects with
 * what is neither an answer of the API nor the end of the time.
 */
export async function findEventAttempts(request: AttemptsRequest): Promise<AttemptsReading> {
  try {
    return await readSpans(request);
  } catch (error) {
    return whyUnread(error, request.signal);
  }
}

async function readSpans({ client, eventId, signal, ...times }: AttemptsRequest): Promise<AttemptsReading> {
  const found = new Map<string, WebhookDelivery>();
  let [isWhole, isNamed, rows] = [true, false, 0];
  for (const span of spansAround(times)) {
    let left = MAX_ROWS;
    for await (const row of client.webhooks.allDeliveries(span, { signal })) {
      if (left === 0) {
        isWhole = false;
        break;
      }
      [left, rows] = [left - 1, rows + 1];
      if (row.eventId !== null) isNamed = true;
      if (row.eventId === eventId) found.set(row.id, row);
    }
  }
  if (rows > 0 && !isNamed) return unread("unnamed_rows");
  return { kind: "read", attempts: [...found.values()].map(toAttempt).toSorted(byTime), isWhole };
}

/**
 * The nearest first. An event that is stored was not delivered before, and most attempts are: before it only those that
 * failed are looked at.
 */
function spansAround({ receivedAt, now }: Pick<AttemptsRequest, "receivedAt" | "now">): LogQuery[] {
  const iso = (at: number): string => new Date(Math.max(0, at)).toISOString();
  const [before, after, soon] = [receivedAt - AROUND_MS, receivedAt + AROUND_MS, receivedAt + SOON_MS];
  const spans: { since: number; until: number; status?: "failed" }[] = [
    { since: before, until: after },
    { since: before - MAX_RETRY_SPAN_MS, until: before, status: "failed" },
    { since: after, until: soon },
    { since: soon, until: after + MAX_RETRY_SPAN_MS },
  ];
  return spans
    .filter(({ since }) => since <= now)
    .map(({ since, until, ...rest }) => ({ ...rest, since: iso(since), until: iso(until), limit: PAGE_ROWS }));
}

function toAttempt(row: WebhookDelivery): EventAttempt {
  const at = Date.parse(row.createdAt ?? "");
  return { ...row, at: Number.isNaN(at) ? null : at };
}

function byTime(one: EventAttempt, other: EventAttempt): number {
  return (one.at ?? 0) - (other.at ?? 0);
}

/** An aborted call rejects with the signal's reason, which is no error of this package. */
function whyUnread(error: unknown, { aborted }: AbortSignal): AttemptsReading {
  if (aborted || error instanceof NoAnswerError) return unread("no_answer");
  if (error instanceof RateLimitError) return unread("rate_limited", error);
  if (error instanceof PermissionError && error.code === "insufficient_scope") return unread("no_scope", error);
  if (error instanceof AuthenticationError || error instanceof PermissionError) return unread("key_refused", error);
  if (error instanceof ApiError) return unread("other_answer", error);
  throw error;
}

function unread(reason: UnreadReason, { status, retryAfterMs }: Partial<ApiError> = {}): AttemptsReading {
  return { kind: "unread", reason, status, retryAfterMs };
}
