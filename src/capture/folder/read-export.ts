import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { Capture, HeaderList } from "../model/capture.js";
import { captureRequest } from "../model/capture-request.js";
import { parseCapture } from "../model/parse-capture.js";

/**
 * The captures in a text: one capture or a list as JSON, one per line (ndjson), or the bare JSON of events. Throws
 * `invalid_capture` for any other text; the message has no part of it.
 */
export function readExport(text: string): Capture[] {
  const whole = parseJson(text);
  if (whole.ok && !Array.isArray(whole.value)) return [fromJson(whole.value, "")];
  if (whole.ok) return [whole.value].flat().map((value, index) => fromJson(value, `Capture ${index + 1}: `));
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || !lines.some((line) => parseJson(line).ok)) {
    throw new PigeonholeError("invalid_capture", "Neither JSON, nor a line of JSON for each capture.");
  }
  return lines.map((line, index) => {
    const json = parseJson(line);
    if (json.ok) return fromJson(json.value, `Line ${index + 1}: `);
    throw new PigeonholeError("invalid_capture", `Line ${index + 1} is not valid JSON.`);
  });
}

function fromJson(value: unknown, what: string): Capture {
  if (isRecord(value) && isEnvelope(value)) {
    const headers: HeaderList = [["content-type", "application/json"]];
    const request = { method: "POST", path: "/", headers, body: Buffer.from(JSON.stringify(value)) };
    return captureRequest({ request, receivedAt: Date.now(), source: "import", secrets: [] });
  }
  try {
    return parseCapture(value);
  } catch (error) {
    throw isPigeonholeError(error) ? new PigeonholeError("invalid_capture", what + error.message) : error;
  }
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
