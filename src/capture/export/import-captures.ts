import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { Capture, HeaderList } from "../model/capture.js";
import { captureRequest } from "../model/capture-request.js";
import type { NamedSecret } from "../model/judge-signature.js";
import { parseCapture } from "../model/parse-capture.js";

export interface ImportOptions {
  /** Secrets to check the requests of a HAR file with. @default none */
  secrets?: readonly NamedSecret[];
  /** Time of arrival for requests without one, in milliseconds since 1970. @default Date.now() */
  nowMs?: number;
}

export interface Imported {
  captures: Capture[];
  /** What could not be imported and why, one sentence each. Contains no part of it. */
  problems: string[];
}

/**
 * Reads captures from a text: one capture or a list as JSON, one per line (ndjson), a HAR file, of which the POST
 * requests are taken, or the bare JSON of an event. Throws `invalid_capture` for any other text.
 */
export function parseImport(text: string, options: ImportOptions = {}): Imported {
  const whole = parseJson(text);
  if (!whole.ok) return parseLines(text, options);
  const entries = harEntries(whole.value);
  if (entries !== undefined) return collect(entries.filter(isPost), "Entry", (entry) => fromHarEntry(entry, options));
  const values: unknown[] = Array.isArray(whole.value) ? whole.value : [whole.value];
  return collect(values, "Capture", (value) => fromJson(value, options));
}

function parseLines(text: string, options: ImportOptions): Imported {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || !lines.some((line) => parseJson(line).ok)) {
    throw new PigeonholeError(
      "invalid_capture",
      "Not an import: neither JSON, nor a line of JSON per capture, nor HAR.",
    );
  }
  return collect(lines, "Line", (line) => {
    const json = parseJson(line);
    if (!json.ok) throw new PigeonholeError("invalid_capture", "Not a capture: the line is not valid JSON.");
    return fromJson(json.value, options);
  });
}

function collect<Item>(items: readonly Item[], what: string, read: (item: Item) => Capture): Imported {
  const captures: Capture[] = [];
  const problems: string[] = [];
  for (const [index, item] of items.entries()) {
    try {
      captures.push(read(item));
    } catch (error) {
      if (!isPigeonholeError(error)) throw error;
      problems.push(`${what} ${index + 1}: ${error.message}`);
    }
  }
  return { captures, problems };
}

function fromJson(value: unknown, options: ImportOptions): Capture {
  if (!isRecord(value) || !isEnvelope(value)) return parseCapture(value);
  const body = Buffer.from(JSON.stringify(value));
  return importRequest(body, [["content-type", "application/json"]], options);
}

/** The four fields of a delivery, docs/service.md#envelope. */
function isEnvelope(value: Record<string, unknown>): boolean {
  return typeof value["id"] === "string" && typeof value["type"] === "string" && isRecord(value["data"]);
}

function harEntries(value: unknown): unknown[] | undefined {
  const log = isRecord(value) ? value["log"] : undefined;
  const entries = isRecord(log) ? log["entries"] : undefined;
  return Array.isArray(entries) ? entries : undefined;
}

function isPost(entry: unknown): boolean {
  return isRecord(entry) && isRecord(entry["request"]) && entry["request"]["method"] === "POST";
}

function fromHarEntry(entry: unknown, options: ImportOptions): Capture {
  const { request, startedDateTime } = entry as { request: Record<string, unknown>; startedDateTime?: unknown };
  const { url, headers, postData } = request;
  if (typeof url !== "string" || !URL.canParse(url))
    throw new PigeonholeError("invalid_capture", "request.url is not a URL.");
  const { text, encoding } = isRecord(postData) ? postData : {};
  if (typeof text !== "string") throw new PigeonholeError("invalid_capture", "request.postData.text is missing.");
  const { pathname, search } = new URL(url);
  const at = typeof startedDateTime === "string" ? Date.parse(startedDateTime) : Number.NaN;
  return importRequest(
    Buffer.from(text, encoding === "base64" ? "base64" : "utf8"),
    Array.isArray(headers) ? headers.flatMap(harHeader) : [],
    { ...options, ...(Number.isNaN(at) ? {} : { nowMs: at }) },
    { path: pathname, query: search.slice(1) },
  );
}

function harHeader(value: unknown): HeaderList {
  const { name, value: content } = isRecord(value) ? value : {};
  // HTTP/2 writes method and path as headers whose names begin with a colon.
  return typeof name === "string" && typeof content === "string" && !name.startsWith(":") ? [[name, content]] : [];
}

function importRequest(
  body: Uint8Array,
  headers: HeaderList,
  { secrets = [], nowMs = Date.now() }: ImportOptions,
  place: { path: string; query: string } = { path: "/", query: "" },
): Capture {
  const request = { method: "POST", ...place, headers, body };
  return captureRequest({ request, receivedAt: nowMs, source: "import", secrets });
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text.replace(/^\u{feff}/u, "")) as unknown };
  } catch {
    return { ok: false };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
