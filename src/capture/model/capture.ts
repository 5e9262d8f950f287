/** Tag of a capture whose body was cut, since no secret made its signature; `sha256` is that of the whole body. */
export const CUT_TAG = "cut";

/** Where a capture came from. `live`: from outside; `sandbox`: from the emulated service; `trigger`: made here. */
export const CAPTURE_SOURCES = ["live", "sandbox", "trigger", "import", "production"] as const;

export type CaptureSource = (typeof CAPTURE_SOURCES)[number];

/** Result of the signature check on arrival. */
export const VERDICT_CODES = ["ok", "stale", "mismatch", "missing", "malformed"] as const;

export type VerdictCode = (typeof VERDICT_CODES)[number];

/** Bytes as received: text if they are valid UTF-8, base64 otherwise. */
export interface CapturedBody {
  encoding: "utf8" | "base64";
  data: string;
}

/** Name and value as received, in order, with duplicates. */
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

/** The readable fields of the envelope. */
export interface CapturedEvent {
  id: string | null;
  type: string | null;
  /** `createdAt` of the envelope, unchanged. */
  at: string | null;
}

export interface CaptureVerdict {
  code: VerdictCode;
  /** One sentence of `explainSignature`. */
  summary: string;
  /** How to fix it, if that is known. */
  fix: string | null;
  /** Time of signing minus time of arrival, in seconds; null if there is no readable time. */
  skewSeconds: number | null;
  /** Name of the secret that matched, such as `env:WEBHOOK_SECRET`; never the secret. */
  secretRef: string | null;
}

/** How an attempt was signed: with a new time, or not at all, with the captured bytes and headers. */
export type SignMode = "exact" | "resign";

/** One POST of a capture to the app, and the answer. */
export interface CaptureAttempt {
  /** From 1, in order. */
  n: number;
  kind: "forward" | "replay";
  mode: SignMode;
  /** URL posted to. */
  target: string;
  /** ISO 8601. */
  at: string;
  /** Event id that was sent, if it differs from the capture's. */
  eventId: string | null;
  sentHeaders: HeaderList;
  /** Body that was sent, if it differs from the capture's. */
  sentBody: CapturedBody | null;
  /** Null if no answer came; `error` says why. */
  status: number | null;
  headers: HeaderList;
  body: CapturedBody | null;
  ms: number;
  error: string | null;
}

/** The expected answer to a replay of a capture; see `pigeonhole test`. */
export interface Expectation {
  /** `2xx`, `4xx`, `5xx` or an exact code. @default '2xx' */
  status?: string;
  /** Outcome in `x-pigeonhole-outcome`, such as `accepted`. */
  outcome?: string;
  /** Final state of each handler's work, by handler name; `{}` where no handler gets the event. Needs the inbox. */
  handlers?: Record<string, string>;
  /** Final state of each contact event that the handlers record, by its name. Checked where the app is started. */
  contactEvents?: Record<string, string>;
  /** JSON that the answer's body must equal. */
  json?: unknown;
  /** Paths in that JSON that may differ, such as `$.requestId`. */
  ignore?: string[];
}

/** One received request, stored as one JSON file. A copy of the file is a fixture. */
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
  /** Name of the redaction profile; null if not redacted. */
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
  /**
   * Id under which a receiver has what the last attempt sent: for most captures, and before the first attempt,
   * `eventId`; for a body without one, `raw:` and its digest; null for an edited body without one.
   */
  lastEventId: string | null;
  /** Such ids of what earlier attempts sent, the latest first, without `lastEventId`. */
  earlierEventIds: string[];
  /** What the event is about: an address, a subject or a file name of `data`, if one is found. */
  subject: string;
  attempts: number;
  /** Of the last attempt; null before the first, or if no answer came. */
  status: number | null;
  /** Of the last attempt; null if its answer does not say. */
  outcome: string | null;
  /** Whether the last attempt was answered 2xx by something that is no receiver, such as an HTML page. */
  notReceived: boolean;
  ms: number | null;
  error: string | null;
  /** Bytes of the body. */
  size: number;
  tags: string[];
  pinned: boolean;
  /** Whether the last attempt was a replay. */
  replayed: boolean;
  /** Whether it was signed again here. */
  resigned: boolean;
}

/** Attempts kept with a capture, so that repeated replays do not make its file grow without limit. */
const MAX_ATTEMPTS = 50;

/** The capture with one more attempt, numbered after the last. Only the latest attempts are kept. */
export function recordAttempt(capture: Capture, attempt: Omit<CaptureAttempt, "n">): Capture {
  const n = (capture.attempts.at(-1)?.n ?? 0) + 1;
  return { ...capture, attempts: [...capture.attempts, { ...attempt, n }].slice(-MAX_ATTEMPTS) };
}
