import type { IncomingMessage } from "node:http";
import { SandboxApiError } from "../api/api-handlers.js";

/** A body of the control API. */
export type ControlBody = Readonly<Record<string, unknown>>;

const MAX_BYTES = 1024 * 1024;

/** The JSON object of a request, empty if there is no body; throws a SandboxApiError. */
export async function readControlBody(req: IncomingMessage): Promise<ControlBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw badRequest(413, "", "The body has more than 1 MiB.");
    chunks.push(chunk);
  }
  if (length === 0) return {};
  const body = parseJson(Buffer.concat(chunks).toString("utf8"));
  if (isObject(body)) return body;
  throw badRequest(400, "", "The body must be a JSON object.");
}

/** A string of the body; throws 422 for anything else. */
export function textOf(body: ControlBody, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || typeof value === "string") return value;
  throw badRequest(422, field, "Must be a string.");
}

/** An object of the body; throws 422 for anything else. */
export function objectOf(body: ControlBody, field: string): ControlBody | undefined {
  const value = body[field];
  if (value === undefined || isObject(value)) return value;
  throw badRequest(422, field, "Must be an object.");
}

/** A boolean of the body, false if omitted; throws 422 for anything else. */
export function flagOf(body: ControlBody, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value === "boolean") return value;
  throw badRequest(422, field, "Must be true or false.");
}

/** A whole number of the body from 1 to `max`; throws 422 for anything else. */
export function wholeNumberOf(body: ControlBody, field: string, max: number): number | undefined {
  const value = body[field];
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max)) {
    return value;
  }
  throw badRequest(422, field, `Must be a whole number from 1 to ${max}.`);
}

/** Throws 422 for an unknown field, so that a misspelt field is not ignored. */
export function refuseOthers(body: ControlBody, fields: readonly string[]): void {
  const [other] = Object.keys(body).filter((field) => !fields.includes(field));
  if (other !== undefined) throw badRequest(422, other, `There is no such field; there are ${fields.join(", ")}.`);
}

/** A refusal of the control API. */
export function badRequest(status: number, param: string, message: string): SandboxApiError {
  const code = status === 404 ? "resource_not_found" : "invalid_parameter";
  return new SandboxApiError({ status, code, message, ...(param === "" ? {} : { param }) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(400, "", "The body is not JSON.");
  }
}

function isObject(value: unknown): value is ControlBody {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
