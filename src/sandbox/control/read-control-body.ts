import type { IncomingMessage } from "node:http";
import { inputRefusal } from "../api/api-handlers.js";

const MAX_BYTES = 1024 * 1024;

/** The JSON object of a request, empty if there is no body; throws a SandboxApiError. */
export async function readControlBody(req: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw refusal(413, "The body has more than 1 MiB.");
    chunks.push(chunk);
  }
  if (length === 0) return {};
  const body = parseJson(Buffer.concat(chunks).toString("utf8"));
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw refusal(400, "The body must be a JSON object.");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(400, "The body is not JSON.");
  }
}

function refusal(status: number, message: string): Error {
  return inputRefusal({ code: "invalid_parameter", param: "", message }, status);
}
