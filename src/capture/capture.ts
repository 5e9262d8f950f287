/** Tag of a capture that was answered 202 and has not reached the app; the dev server of its folder delivers it. */
export const HELD_TAG = "held";

/** Where a capture came from. `live`: from outside; `sandbox`: from the emulated service; `trigger`: made here. */
export const CAPTURE_SOURCES = ["live", "sandbox", "trigger", "import", "production"] as const;

export type CaptureSource = (typeof CAPTURE_SOURCES)[number];

/** What the signature was worth on arrival. */
export const VERDICT_CODES = ["ok", "stale", "mismatch", "missing", "malformed"] as const;

export type VerdictCode = (typeof VERDICT_CODES)[number];

/** Bytes as they came: text where they are valid UTF-8, base64 otherwise. */
export interface CapturedBody {
  encoding: "utf8" | "base64";
  data: string;
}

/** Name and value as they came, in order, duplicates included. */
export type HeaderList = (readonly [name: string, value: string])[];

export interface CapturedRequest {
  method: string;
  /** Path without the query. */
  path: string;
  /** Query without the question mark; empty when there is none. */
  query: string;
  headers: HeaderList;
  body: CapturedBody;
  /** Hex SHA-256 of the body's bytes. */
  sha256: string;
}

/** The envelope, as far as it can be read. */
export interface CapturedEvent {
  id: string | null;
  type: string | null;
  /** `createdAt` of the envelope as it stands. */
  at: string | null;
}

export interface CaptureVerdict {
  code: VerdictCode;
  /** One sentence of `explainSignature`. */
  summary: string;
  /** What to change, where that is known. */
  fix: string | null;
  /** Time of signing minus time of arrival in seconds; null when there is no readable time. */
  skewSeconds: number | null;
  /** Name of the secret that matched, such as `env:WEBHOOK_SECRET`; never the secret. */
  secretRef: string | null;
}

/** How an attempt was signed: with a fresh time, or the captured bytes and headers untouched. */
export type SignMode = "exact" | "resign";

/** One POST of a capture to the app, and the answer. */
export interface CaptureAttempt {
  /** From 1, in order. */
  n: number;
  kind: "forward" | "replay" | "retry";
  mode: SignMode;
  /** URL posted to. */
  target: string;
  /** ISO 8601. */
  at: string;
  /** Event id that was sent, where it differs from the capture's. */
  eventId: string | null;
  sentHeaders: HeaderList;
  /** Body that was sent, where it differs from the capture's. */
  sentBody: CapturedBody | null;
  /** Null when no answer came; `error` then says why. */
  status: number | null;
  headers: HeaderList;
  body: CapturedBody | null;
  ms: number;
  error: string | null;
}

/** What a replay of a capture is expected to be answered; see `pigeonhole test`. */
export interface Expectation {
  /** `2xx`, `4xx`, `5xx` or an exact code. @default '2xx' */
  status?: string;
  /** Outcome in `x-pigeonhole-outcome`, such as `accepted`. */
  outcome?: string;
  /** State of the work of a handler once it has settled, by handler name, where the inbox can be reached. */
  handlers?: Record<string, string>;
  /** JSON that the answer's body must equal. */
  json?: unknown;
  /** Paths in that JSON that may differ, such as `$.requestId`. */
  ignore?: string[];
}

/** One received request as it is kept: one JSON file. A copy of the file is a fixture. */
export interface Capture {
  v: 1;
  /** `cap_` and an identifier that sorts by time of arrival. */
  id: string;
  /** ISO 8601. */
  receivedAt: string;
  source: CaptureSource;
  request: CapturedRequest;
  event: CapturedEvent;
  verify: CaptureVerdict;
  attempts: CaptureAttempt[];
  tags: string[];
  note: string;
  pinned: boolean;
  /** Name of the redaction profile; null for untouched bytes. */
  redaction: string | null;
  expect?: Expectation;
}

/** One row of the list. */
export interface CaptureSummary {
  id: string;
  receivedAt: string;
  source: CaptureSource;
  verdict: VerdictCode;
  type: string | null;
  eventId: string | null;
  /** What the event is about: an address, a subject or a file name of `data`, where one is found. */
  subject: string;
  attempts: number;
  /** Of the last attempt; null before the first, or when no answer came. */
  status: number | null;
  ms: number | null;
  error: string | null;
  /** Bytes of the body. */
  size: number;
  tags: string[];
  pinned: boolean;
  /** Whether the last attempt was a replay. */
  replayed: boolean;
}
