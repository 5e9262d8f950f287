/*
 * The protocol between the page and the dev server: JSON under /api on the page's own port. Every request has the
 * session cookie; every change is a POST with `content-type: application/json` and the header `x-pigeonhole: 1`.
 *
 * GET  /api/session                         → Session
 * GET  /api/captures?query=&limit=          → CapturePage (newest first)
 * GET  /api/captures/{id}                   → CaptureDetail
 * POST /api/captures/{id}/mark   MarkBody   → CaptureSummary
 * POST /api/captures/remove      {ids}      → { removed: number }
 * POST /api/captures/{id}/try-secret  {secret}, which is not kept → SignatureReport
 * POST /api/captures/{id}/curl   {mode}     → { command: string }
 * POST /api/captures/export      ExportBody → FileText
 * POST /api/captures/{id}/fixture {body}: with this text in place of its body, signed → FileText
 * POST /api/replay               ReplayBody → PageReplayReport
 * GET  /api/samples/{type}                  → { body: string } (pretty JSON)
 * POST /api/send                 SendBody   → SendReport
 * GET  /api/stream                          → server-sent events: `capture` CaptureSummary, `removed` { ids },
 *                                             `session` Session, `work` EventView, `sandbox` {}: its state has
 *                                             changed, so load it again; and `reset` {}: the client missed more than
 *                                             the server keeps, so load the lists again
 * GET  /api/work                            → WorkList: of the events that are followed
 * GET  /api/work?id=                        → WorkList: of this event, empty if the inbox does not have it
 * GET  /api/inbox                           → StoreFigures
 * Errors, events, handlers and the outbox of the inbox are answered as the dashboard answers them: see web/api/.
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
 * /icon*. index.html holds `data-face="__FACE__"`, which becomes `dev` here and `dashboard` in the dashboard, and
 * `<meta name="csp-nonce" content="__CSP_NONCE__">`: the server replaces the placeholder with a new nonce in every
 * answer and sends it in `style-src 'self' 'nonce-…'` (the JSON editor creates its style sheet at run time).
 */
import type { QueryField } from "../../capture/query/query-fields.js";
import { WORK_FILTERS } from "../../store/filters.js";
import { EVENT_STATES } from "../../store/state-words.js";
import type { PageSession } from "../../web/api/session.js";
import type { EventView } from "../../store/inbox-view.js";
import type { Capture, CaptureAttempt, CaptureSummary, SignMode } from "../../capture/model/capture.js";

/** A run of the dev server, whose pages may do all. */
export interface Session extends PageSession {
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
  /** Captures on disk. */
  captures: number;
}

/** What terms of a search begin with that the inbox answers. */
export const WORK_PREFIX = "work.";

/** These terms, by the filters that all lists of an inbox have, with their meanings. */
export const WORK_TERMS: Readonly<Record<string, Pick<QueryField, "meaning" | "values">>> = Object.fromEntries([
  [`${WORK_PREFIX}state`, { meaning: "Only events with work in this state.", values: EVENT_STATES }],
  ...Object.entries(WORK_FILTERS).map(([name, { summary }]) => [`${WORK_PREFIX}${name}`, { meaning: summary }]),
]);

export interface CapturePage {
  items: CaptureSummary[];
  /** Number of all captures, before the query and the limit. */
  total: number;
  /** Number that the query matched, before the limit. */
  matched: number;
  /** Events that no capture carried, without errors in full and steps; they are among the items. */
  works: EventView[];
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
  /** The timestamp as it was signed: before a dot and the raw body. Null if the headers have no readable one. */
  timestamp: string | null;
}

/** One delivery, with the app's answer to it: not to a replay. */
export interface PastAttempt extends Pick<CaptureSummary, "status" | "outcome" | "notReceived" | "error"> {
  at: string;
  /** Its capture, if it is known which one that is. */
  captureId?: string;
}

/** The deliveries of one event: what was received, and what the service would still send. */
export interface RetryLine {
  /** Those that are kept here, oldest first. */
  past: PastAttempt[];
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

export interface MarkBody {
  pinned?: boolean;
  note?: string;
  tags?: string[];
}

export interface ExportBody {
  ids: string[];
  as: "ndjson" | "json" | "curl" | "vitest";
  /** By the profile `strict`, for others to see: without personal data, signatures and attempts. @default false */
  redacted?: boolean;
}

export interface ReplayBody {
  ids: string[];
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

export interface WorkList {
  events: EventView[];
}
