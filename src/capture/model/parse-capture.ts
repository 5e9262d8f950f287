import { PigeonholeError } from "../../base/error.js";
import { CAPTURE_SOURCES, type Capture, type CapturedBody, VERDICT_CODES } from "./capture.js";
import { isCaptureId } from "./capture-id.js";
import { checkStatusPattern } from "./check-expectation.js";

/**
 * Checks every field of parsed JSON that this package relies on, and returns it as a capture. Fields that may be
 * omitted by hand get their defaults. Throws an `invalid_capture` that names the field.
 */
export function parseCapture(value: unknown): Capture {
  const root = record(value, "the file");
  if (root["v"] !== 1)
    fail("v", root["v"] === undefined ? "is missing" : "was written by another version of this package");
  const request = record(root["request"], "request");
  const event = record(root["event"] ?? {}, "event");
  const verify = record(root["verify"] ?? {}, "verify");
  const id = text(root["id"], "id");
  if (!isCaptureId(id)) fail("id", "must be letters, digits, _ and - only");
  const receivedAt = text(root["receivedAt"], "receivedAt");
  if (!Number.isFinite(Date.parse(receivedAt))) fail("receivedAt", "is no ISO 8601 time");
  if (root["expect"] !== undefined && root["expect"] !== null) checkExpect(root["expect"]);
  const source = oneOf(root["source"] ?? "import", CAPTURE_SOURCES, "source");
  return {
    // Fields this version does not know stay.
    ...root,
    v: 1,
    id,
    receivedAt,
    source,
    request: {
      ...request,
      method: text(request["method"] ?? "POST", "request.method"),
      path: text(request["path"] ?? "/", "request.path"),
      query: text(request["query"] ?? "", "request.query"),
      headers: headerList(request["headers"] ?? [], "request.headers"),
      body: capturedBody(request["body"], "request.body"),
      sha256: text(request["sha256"] ?? "", "request.sha256"),
    },
    event: { id: textOrNull(event["id"]), type: textOrNull(event["type"]), at: textOrNull(event["at"]) },
    verify: {
      code: oneOf(verify["code"] ?? "missing", VERDICT_CODES, "verify.code"),
      summary: text(verify["summary"] ?? "", "verify.summary"),
      fix: textOrNull(verify["fix"]),
      skewSeconds: typeof verify["skewSeconds"] === "number" ? verify["skewSeconds"] : null,
      secretRef: textOrNull(verify["secretRef"]),
    },
    attempts: list(root["attempts"] ?? [], "attempts").map((one, index) => readAttempt(one, index, receivedAt)),
    tags: list(root["tags"] ?? [], "tags").map((tag) => text(tag, "tags")),
    note: text(root["note"] ?? "", "note"),
    pinned: root["pinned"] === true,
    redaction: textOrNull(root["redaction"]),
  } as Capture;
}

/** An invalid expectation would stop a test run in the middle, or be a test that cannot fail. */
function checkExpect(value: unknown): void {
  const { status, outcome, handlers, contactEvents, ignore } = record(value, "expect");
  if (status !== undefined) checkStatus(text(status, "expect.status"));
  if (outcome !== undefined) text(outcome, "expect.outcome");
  for (const [name, states] of Object.entries({ handlers, contactEvents })) {
    if (states === undefined) continue;
    for (const state of Object.values(record(states, `expect.${name}`))) text(state, `expect.${name}`);
  }
  if (ignore !== undefined) for (const path of list(ignore, "expect.ignore")) text(path, "expect.ignore");
}

function checkStatus(status: string): void {
  try {
    checkStatusPattern(status);
  } catch {
    fail("expect.status", "must be such as 2xx or 503");
  }
}

function readAttempt(value: unknown, index: number, receivedAt: string): unknown {
  const name = `attempts[${index}]`;
  const attempt = record(value, name);
  text(attempt["target"], `${name}.target`);
  headerList(attempt["headers"], `${name}.headers`);
  headerList(attempt["sentHeaders"], `${name}.sentHeaders`);
  // An export says the outcome as well; it is read from the headers.
  const { n = index + 1, ms = 0, at = receivedAt, status, body, sentBody, outcome: _, ...rest } = attempt;
  if (status !== null && typeof status !== "number") fail(`${name}.status`, "must be a number or null");
  if (body !== null) capturedBody(body, `${name}.body`);
  if (sentBody !== null && sentBody !== undefined) capturedBody(sentBody, `${name}.sentBody`);
  if (!Number.isInteger(n)) fail(`${name}.n`, "must be a whole number");
  if (typeof ms !== "number") fail(`${name}.ms`, "must be a number");
  if (!Number.isFinite(Date.parse(text(at, `${name}.at`)))) fail(`${name}.at`, "is no ISO 8601 time");
  return {
    ...rest,
    status,
    body,
    n,
    kind: oneOf(attempt["kind"] ?? "replay", ["forward", "replay"], `${name}.kind`),
    mode: oneOf(attempt["mode"] ?? "resign", ["exact", "resign"], `${name}.mode`),
    at,
    eventId: textOrNull(attempt["eventId"]),
    sentBody: sentBody ?? null,
    ms,
    error: textOrNull(attempt["error"]),
  };
}

function capturedBody(value: unknown, name: string): CapturedBody {
  const { encoding, data } = record(value, name);
  const content = text(data, `${name}.data`);
  if (encoding === "utf8") return { encoding, data: content };
  if (encoding !== "base64") return fail(`${name}.encoding`, 'must be "utf8" or "base64"');
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) fail(`${name}.data`, "is no base64");
  return { encoding, data: content };
}

function headerList(value: unknown, name: string): [string, string][] {
  return list(value, name).map((pair) => {
    const [key, content] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof key === "string" && typeof content === "string") return [key, content];
    return fail(name, "must be pairs of name and value");
  });
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return fail(name, value === undefined ? "is missing" : "must be a JSON object");
}

function list(value: unknown, name: string): unknown[] {
  return Array.isArray(value) ? value : fail(name, "must be a list");
}

function text(value: unknown, name: string): string {
  return typeof value === "string" ? value : fail(name, value === undefined ? "is missing" : "must be a string");
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function oneOf<const Value extends string>(value: unknown, values: readonly Value[], name: string): Value {
  const found = values.find((candidate) => candidate === value);
  return found ?? fail(name, `must be one of ${values.join(", ")}`);
}

function fail(name: string, problem: string): never {
  throw new PigeonholeError("invalid_capture", `Not a capture: ${name} ${problem}.`);
}
