import { PigeonholeError } from "../base/error.js";
import type { HeaderReader } from "./raw-request.js";

/** Headers in any of the usual forms. A reader function costs nothing; a record in lower case, as Node's, little. */
export type HeadersInput = HeaderReader | Headers | Record<string, string | string[] | undefined>;

/** Turns headers into a reader by lower-case name. A header given as a list reads as "a, b". */
export function headerReader(headers: HeadersInput): HeaderReader {
  if (typeof headers === "function") return headers;
  if (typeof headers !== "object" || headers === null) {
    throw new PigeonholeError("invalid_argument", "headers must be a Headers object, a record or a reader function.");
  }
  if (isFetchHeaders(headers)) return (name) => headers.get(name) ?? undefined;
  return (name) => readRecord(headers, name);
}

function isFetchHeaders(headers: object): headers is Headers {
  return "get" in headers && typeof headers.get === "function";
}

function readRecord(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  if (Object.hasOwn(headers, name)) return joined(headers[name]);
  for (const key of Object.keys(headers)) {
    if (key.length === name.length && key.toLowerCase() === name) return joined(headers[key]);
  }
  return undefined;
}

function joined(value: string | string[] | undefined): string | undefined {
  if (!Array.isArray(value)) return value;
  return value.length === 0 ? undefined : value.join(", ");
}
