/*
 * The protocol between the page and the dev server: JSON under /api on the page's own port. Every request has the
 * session cookie; every change is a POST with `content-type: application/json` and the header `x-pigeonhole: 1`.
 *
 * GET  /api/session                         → Session
 * GET  /api/captures?query=&limit=          → CapturePage (newest first)
 * GET  /api/captures/{id}                   → CaptureDetail
 * POST /api/captures/{id}/mark   MarkBody   → CaptureSummary
 * POST /api/captures/remove      IdsBody    → { removed: number }
 * POST /api/captures/{id}/try-secret  TrySecretBody → SignatureReport
 * POST /api/captures/{id}/curl   CurlBody   → { command: string }
 * POST /api/captures/export      ExportBody → { name, mediaType, text }
 * POST /api/captures/{id}/fixture FixtureBody → { name, mediaType, text }
 * POST /api/replay               ReplayBody → PageReplayReport
 * GET  /api/samples/{type}                  → { body: string } (pretty JSON)
 * POST /api/send                 SendBody   → SendReport
 * GET  /api/stream                          → server-sent events: `capture` CaptureSummary, `removed` { ids },
 *                                             `session` Session, `work` EventWork, `sandbox` {}: its state has
 *                                             changed, so load it again; and `reset` {}: the client missed more than
 *                                             the server keeps, so load the lists again
 * GET  /api/work                            → WorkList: of the events that are followed
 * GET  /api/work?id=                        → WorkList: of this event, empty if the inbox does not have it
 * GET  /api/inbox                           → InboxOverview
 * GET  /api/inbox/handler-times?handler=&since=&until= → HandlerTimesReport (since and until as ISO 8601)
 * GET  /api/inbox/events?state=&type=&text=&cursor= → InboxEventPage
 * POST /api/inbox/retry | run | discard IdsBody   → InboxChanges
 * GET  /api/inbox/events/{id}               → InboxEventDetail
 * POST /api/inbox/events/{id}/retry | run | discard  {} → { changed: number }
 * GET  /api/inbox/contact-events?state=&name=&text=&cursor= → ContactEventPage
 * POST /api/inbox/contact-events/retry | discard IdsBody (keys) → InboxChanges
 * GET  /api/sandbox                         → SandboxState (sandbox-state.ts, with the bodies below)
 * POST /api/sandbox/advance      AdvanceBody → AdvanceReport
 * POST /api/sandbox/faults       FaultBody  → SandboxState
 * POST /api/sandbox/faults/{id}/remove {}   → SandboxState
 * POST /api/sandbox/endpoints/{id}/resume {} → SandboxState
 * POST /api/sandbox/emit         EmitBody   → EmitReport
 *
 * Errors: the status for it and PageApiErrorBody.
 *
 * The page itself is dist/page (built from src/page): `GET /` is index.html, everything else is under /assets and
 * /icon*. index.html holds `<meta name="csp-nonce" content="__CSP_NONCE__">`: the server replaces the placeholder with
 * a new nonce in every answer and sends it in `style-src 'self' 'nonce-…'` (the JSON editor creates its style sheet at
 * run time).
 */
import type { HandlerTimes, RunTimeBucket } from "../../store/handler-times.js";
import type { FailedRun } from "../../store/inbox-view.js";
import type { Capture, CaptureAttempt, CaptureSummary, SignMode } from "../../capture/model/capture.js";

export interface Session {
  version: string;
  /** Where deliveries are received on this machine. */
  captureUrl: string;
  /** Where the service can reach it: a tunnel, or null. */
  publicUrl: string | null;
  forwards: { types: string; target: string }[];
  /** Names of the secrets, such as `env:WEBHOOK_SECRET (whsec_…1f3a)`; never the secrets. */
  secrets: string[];
  /** Whether a receiver's database was given. */
  inbox: boolean;
  /** Whether the dev server runs an emulated service; without one /api/sandbox answers 404 `no_sandbox`. */
  sandbox: boolean;
  eventTypes: { name: string; group: string; isDefault: boolean }[];
  /** Captures on disk. */
  captures: number;
}

export interface CapturePage {
  items: CaptureSummary[];
  /** Number of all captures, before the query and the limit. */
  total: number;
  /** Number that the query matched, before the limit. */
  matched: number;
  /** The work on events that no capture carried; they are among the items. */
  works: EventWork[];
}

/** One line of the signature's check. */
export interface SignatureCheck {
  name: string;
  result: "pass" | "fail" | "skipped";
  detail: string;
}

/** The check of a signature, step by step. */
export interface SignatureReport {
  summary: string;
  checks: SignatureCheck[];
  findings: { code: string; message: string; fix: string }[];
  toleranceSeconds: number;
  /** The timestamp as it was signed: before a dot and the raw body. Null if the headers have no readable one. */
  timestamp: string | null;
}

/** One delivery, with the app's answer to it: not to a replay. */
export interface PastDelivery extends Pick<
  CaptureSummary,
  "receivedAt" | "status" | "outcome" | "notReceived" | "error"
> {
  captureId: string;
}

/** The deliveries of one event: what was received, and what the service would still send. */
export interface RetryLine {
  /** Those that are kept here, oldest first. */
  past: PastDelivery[];
  /** When the service sends it again, ISO 8601; empty if the last answer ends its attempts, or nothing does. */
  coming: string[];
  /** How often the service would send it again if the event came from it; 0 if it did. */
  notComing: number;
}

export interface CaptureDetail {
  capture: Capture;
  summary: CaptureSummary;
  signature: SignatureReport;
  retryLine: RetryLine;
}

/** A secret to check a capture's signature with. It is not kept. */
export interface TrySecretBody {
  secret: string;
}

export interface MarkBody {
  pinned?: boolean;
  note?: string;
  tags?: string[];
}

export interface IdsBody {
  ids: string[];
}

export interface CurlBody {
  mode: SignMode;
}

export interface ExportBody extends IdsBody {
  as: "ndjson" | "json" | "har" | "curl" | "http" | "vitest";
  /** By the profile `strict`, for others to see: without personal data, signatures and attempts. @default false */
  redacted?: boolean;
}

/** A capture with another body, signed, as a file to keep in the repository. */
export interface FixtureBody {
  /** Text of the edited body. */
  body: string;
}

export interface ReplayBody extends IdsBody {
  /** @default 'resign' */
  mode?: SignMode;
  /** True exercises deduplication. @default true, but false for an edited body that has the captured id */
  sameId?: boolean;
  /** Text of the edited body; for one capture, always signed again. */
  body?: string;
  /** URL instead of the forwards. */
  target?: string;
  times?: number;
}

export interface PageReplayReport {
  attempts: {
    captureId: string;
    attempt: CaptureAttempt;
    /** Against the attempt before; null for the first. */ changed: boolean | null;
  }[];
}

export const SIGNATURE_VARIANTS = ["valid", "stale", "wrong-secret", "tampered", "missing"] as const;

export type SignatureVariant = (typeof SIGNATURE_VARIANTS)[number];

export interface SendBody {
  /** JSON text of the envelope. */
  body: string;
  sign: SignatureVariant;
  /** Deliveries of the same event. @default 1 */
  times?: number;
}

export interface SendReport {
  /** Of each delivery, in the order of sending, with the app's answer. */
  captures: CaptureSummary[];
}

export interface InboxOverview {
  /** Path of the file, or server and database without the password. */
  database: string;
  /**
   * Number of rows of each list: by state, and `all`. An event with several handlers is in the lists of all their
   * states.
   */
  events: { all: number; pending: number; leased: number; dead: number; parked: number; done: number };
  contactEvents: { all: number; pending: number; leased: number; dead: number; done: number };
}

/** The handlers that had ended runs then, in the order of their names. */
export interface HandlerTimesReport {
  handlers: HandlerTimesRow[];
}

/** How long the runs of one handler took, as far as its receiver has written it: every 10 s. */
export interface HandlerTimesRow extends Pick<HandlerTimes, "handler" | "runs" | "failed"> {
  /** Half of the runs took less, in milliseconds; null for more than the last bucket's bound. */
  medianMs: number | null;
  /** 95 % of the runs took less, in milliseconds; null for more than the last bucket's bound. */
  p95Ms: number | null;
  /** From the first to the last bucket with a run, ascending; `toMs` is null for the last, which has no end. */
  buckets: (Omit<RunTimeBucket, "toMs"> & { toMs: number | null })[];
}

export interface InboxHandler {
  handler: string;
  state: string;
  reason: string | null;
  error: string | null;
  attempts: number;
  /** How often the handler may fail; null where that is not known. */
  maxAttempts: number | null;
  /** ISO 8601 or null. */
  dueAt: string | null;
  /** Since when an event that was not understood waits to be read again, ISO 8601 or null. */
  retryRequestedAt: string | null;
  /** True when the work was ended without a run: by a discard, or because the handler has other bytes of the id. */
  discarded: boolean;
}

/** What the app's handlers made of an event. */
export interface EventWork {
  event: InboxEvent;
  /** First and last error of each handler in full, by its name; handlers without one are left out. */
  errors: Record<string, HandlerErrorRows>;
}

/** The first and the last failed run of a handler. */
export interface HandlerErrorRows {
  first: HandlerErrorRow;
  last: HandlerErrorRow;
}

export interface HandlerErrorRow extends Pick<FailedRun, "attempt" | "stack"> {
  /** When it ended, ISO 8601. */
  at: string;
}

export interface WorkList {
  events: EventWork[];
}

/** What may be done to the work of events. `run`: what waits for its next run is run now. */
export type WorkChange = "retry" | "run" | "discard";

/** What a change of work did. */
export interface InboxChange {
  /** Pieces of work. */
  changed: number;
  /** When an event that was not understood is read again; missing where none is. */
  readAgain?: "now" | "at_start";
}

/** What a change of several events, or contact events, did. */
export interface InboxChanges {
  /** Pieces of work, or contact events; of a retry, with all others of the calls that are repeated. */
  changed: number;
  /** Events that are not there any more, or have lost their body; contact events in another state. */
  failed: number;
  /** Of `failed` of a retry: contact events that wait for their turn, behind the call in front. */
  waiting?: number;
  /** Contact events that were discarded and go out again when another of their call is retried. */
  mayGoOut?: number;
}

export interface InboxEvent {
  id: string;
  type: string;
  test: boolean;
  /** ISO 8601. */
  receivedAt: string;
  state: string;
  handlers: InboxHandler[];
}

export interface InboxEventDetail extends InboxEvent, Pick<EventWork, "errors"> {
  /** Text of the body; null after retention deleted it. */
  body: string | null;
  /** Captures that carried the event, newest first. */
  captureIds: string[];
}

export interface InboxEventPage {
  items: InboxEvent[];
  nextCursor: string | null;
}

export interface ContactEventRow {
  key: string;
  state: string;
  name: string;
  contact: string;
  /** When it was recorded, when it happened, and when it became done or dead: ISO 8601. */
  recordedAt: string;
  occurredAt: string;
  settledAt: string | null;
  /** Tries of its calls so far. */
  attempts: number;
  /** When its call is tried next, ISO 8601 or null. */
  dueAt: string | null;
  /** Error of the last try; null once its call is settled. */
  error: string | null;
  reason: string | null;
  code: string | null;
  param: string | null;
  message: string | null;
  /** The service's id of it; null until the service has taken it. */
  remoteId: string | null;
  /** The event of the inbox whose handler recorded it; null for others, and once that event is gone. */
  inboxEventId: string | null;
  /** Number of its call, if that may have arrived and is only repeated as it was; else null. */
  call: number | null;
  /** How many events that call has; null without one. */
  callEvents: number | null;
}

export interface ContactEventDetail extends ContactEventRow {
  /** JSON text as it is sent; once it was erased, only the name is left. */
  body: string;
}

export interface ContactEventPage {
  items: ContactEventRow[];
  nextCursor: string | null;
}
