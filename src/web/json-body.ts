import type { IncomingMessage } from "node:http";
import { SECOND } from "../base/duration.js";
import { BodyFields } from "./body-fields.js";
import { PageApiError } from "./page-api-error.js";
import { readRequestBody } from "./read-request-body.js";

/** The JSON of a request's body. */
export type JsonBody =
  | { kind: "read"; json: unknown }
  | { kind: "not_json" }
  | { kind: "too_large" }
  | { kind: "timeout" }
  /** Another parser has read it and left nothing. */
  | { kind: "consumed" };

/** Longest wait for the body of a change, in milliseconds. */
export const BODY_TIMEOUT_MS = 10 * SECOND;

/** Reads the body of a request of node:http. An app may parse all JSON before its routes. */
export async function readJsonBody(req: IncomingMessage & { body?: unknown }, maxBytes: number): Promise<JsonBody> {
  if (req.readableDidRead || req.readableEnded) return readParsed(req.body, maxBytes);
  const reading = readRequestBody(req, { maxBytes, timeoutMs: BODY_TIMEOUT_MS });
  // An earlier middleware may have paused it.
  if (req.readableFlowing === false) req.resume();
  const read = await reading;
  switch (read.kind) {
    case "read":
      return parseBody(Buffer.from(read.body).toString(), maxBytes);
    case "too_large":
      return { kind: "too_large" };
    case "timeout":
    case "busy":
    case "aborted":
      return { kind: "timeout" };
  }
}

function readParsed(body: unknown, maxBytes: number): JsonBody {
  if (body instanceof Uint8Array) return parseBody(Buffer.from(body).toString(), maxBytes);
  if (typeof body === "string") return parseBody(body, maxBytes);
  return typeof body === "object" && body !== null ? { kind: "read", json: body } : { kind: "consumed" };
}

/** The JSON of a body that was read. */
export function parseBody(text: string, maxBytes: number): JsonBody {
  if (text.length > maxBytes) return { kind: "too_large" };
  try {
    return { kind: "read", json: JSON.parse(text) as unknown };
  } catch {
    return { kind: "not_json" };
  }
}

/** The fields of a body; throws the answer for one that cannot be used. */
export function fieldsOf(read: JsonBody, maxBytes: number): BodyFields {
  switch (read.kind) {
    case "read":
      return new BodyFields(read.json);
    case "not_json":
      throw new PageApiError(400, { code: "not_json", message: "The body is not JSON." });
    case "too_large":
      throw new PageApiError(413, { code: "too_large", message: `A body may have at most ${maxBytes} bytes.` });
    case "timeout":
      throw new PageApiError(408, { code: "body_timeout", message: "The body did not arrive in time." });
    case "consumed":
      throw new PageApiError(400, {
        code: "body_consumed",
        message: "Another parser has read the body before the dashboard, and left nothing of it on the request.",
      });
  }
}
