import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { CapturedBody, HeaderList } from "./capture.js";

const MAX_DECODED_BYTES = 20 * 1024 * 1024;

/** Encodes bytes as text if they are valid UTF-8, which decodes to the same bytes, and as base64 otherwise. */
export function encodeBody(bytes: Uint8Array): CapturedBody {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer)
    ? { encoding: "utf8", data: buffer.toString("utf8") }
    : { encoding: "base64", data: buffer.toString("base64") };
}

/** The body of an app's answer, to show: decompressed by `content-encoding` if possible. Null if empty. */
export function encodeAnswerBody(headers: HeaderList, bytes: Uint8Array): CapturedBody | null {
  if (bytes.byteLength === 0) return null;
  const encoding = headers
    .find(([name]) => name.toLowerCase() === "content-encoding")?.[1]
    .trim()
    .toLowerCase();
  return encodeBody(inflate(encoding, bytes));
}

function inflate(encoding: string | undefined, bytes: Uint8Array): Uint8Array {
  const limit = { maxOutputLength: MAX_DECODED_BYTES };
  try {
    if (encoding === "gzip" || encoding === "x-gzip") return gunzipSync(bytes, limit);
    if (encoding === "deflate") return inflateSync(bytes, limit);
    if (encoding === "br") return brotliDecompressSync(bytes, limit);
  } catch {
    // A broken or huge stream is shown undecoded.
  }
  return bytes;
}
