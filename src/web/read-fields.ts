import { SECOND } from "../base/duration.js";
import { BodyFields } from "./body-fields.js";
import { PageApiError } from "./page-api-error.js";
import { type BodyStream, readRequestBody } from "./read-request-body.js";

/** Longest wait for the body of a change, in milliseconds. */
export const BODY_TIMEOUT_MS = 10 * SECOND;

/**
 * The fields of a request's body; throws the answer for one that cannot be used. An app may parse all JSON before its
 * routes, and leave it as `body`.
 */
export async function readFields(req: BodyStream & { body?: unknown }, maxBytes: number): Promise<BodyFields> {
  if (req.readableDidRead || req.readableEnded) return fieldsOf(req.body, maxBytes);
  const reading = readRequestBody(req, { maxBytes, timeoutMs: BODY_TIMEOUT_MS });
  // An earlier middleware may have paused it.
  if (req.readableFlowing === false) req.resume();
  const read = await reading;
  switch (read.kind) {
    case "read":
      return fieldsOf(read.body, maxBytes);
    case "too_large":
      throw tooLarge(maxBytes);
    case "timeout":
    case "busy":
    case "aborted":
      throw new PageApiError(408, { code: "body_timeout", message: "The body did not arrive in time." });
  }
}

function fieldsOf(body: unknown, maxBytes: number): BodyFields {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  if (typeof text === "object" && text !== null) return new BodyFields(text);
  if (typeof text !== "string") throw bodyConsumed();
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  return new BodyFields(parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PageApiError(400, { code: "not_json", message: "The body is not JSON." });
  }
}

function tooLarge(maxBytes: number): PageApiError {
  return new PageApiError(413, { code: "too_large", message: `A body may have at most ${maxBytes} bytes.` });
}

/** The answer for a body that is gone. */
export function bodyConsumed(): PageApiError {
  const message = "Another parser has read the body before the dashboard, and left nothing of it on the request.";
  return new PageApiError(400, { code: "body_consumed", message });
}
