import type { ApiAnswer } from "../api/api-handlers.js";

/** An answer as it is written: the bytes of a file as they are, anything else as JSON. */
export function encodeAnswer({ body, headers }: ApiAnswer): {
  headers: Record<string, string>;
  content: Uint8Array<ArrayBuffer>;
} {
  const isFile = body instanceof Uint8Array;
  const content = isFile ? (body as Uint8Array<ArrayBuffer>) : new TextEncoder().encode(JSON.stringify(body));
  const type: Record<string, string> = isFile ? {} : { "content-type": "application/json; charset=utf-8" };
  return { headers: { ...headers, ...type, "content-length": String(content.byteLength) }, content };
}
