import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { Capture, HeaderList } from "../model/capture.js";
import { captureRequest } from "../model/capture-request.js";
import { parseCapture } from "../model/parse-capture.js";

export interface Imported {
  captures: Capture[];
  /** What could not be imported and why, one sentence each. Contains no part of it. */
  problems: string[];
}

/**
 * Reads captures from a text: one capture or a list as JSON, one per line (ndjson), or the bare JSON of an
 * event. Throws `invalid_capture` for any other text.
 */
export function parseImport(text: string): Imported {
  const whole = parseJson(text);
  if (!whole.ok) return parseLines(text);
  const values: unknown[] = Array.isArray(whole.value) ? whole.value : [whole.value];
  return collect(values, "Capture", (value) => fromJson(value));
}

function parseLines(text: string): Imported {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || !lines.some((line) => parseJson(line).ok)) {
    throw new PigeonholeError("invalid_capture", "Not an import: neither JSON, nor a line of JSON per capture.");
  }
  return collect(lines, "Line", (line) => {
    const json = parseJson(line);
    if (!json.ok) throw new PigeonholeError("invalid_capture", "Not a capture: the line is not valid JSON.");
    return fromJson(json.value);
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

function fromJson(value: unknown): Capture {
  if (!isRecord(value) || !isEnvelope(value)) return parseCapture(value);
  const headers: HeaderList = [["content-type", "application/json"]];
  const request = { method: "POST", path: "/", headers, body: Buffer.from(JSON.stringify(value)) };
  return captureRequest({ request, receivedAt: Date.now(), source: "import", secrets: [] });
}

/** The four fields of a delivery, docs/service.md#envelope. */
function isEnvelope(value: Record<string, unknown>): boolean {
  return typeof value["id"] === "string" && typeof value["type"] === "string" && isRecord(value["data"]);
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
