import { createHash } from "node:crypto";
import type { Capture, CaptureSource, HeaderList } from "./capture.js";
import { makeCaptureId } from "./capture-id.js";
import { decodeBody, readEnvelope } from "./captured-body.js";
import { encodeBody } from "./encode-body.js";
import { judgeSignature, type JudgeInput } from "./judge-signature.js";

/** A request as it came over the wire. */
export interface ReceivedRequest {
  method: string;
  /** Path without the query. */
  path: string;
  /** Without the question mark. @default '' */
  query?: string;
  headers: HeaderList;
  body: Uint8Array;
}

export interface CaptureRequestInput extends Pick<
  JudgeInput,
  "receivedAt" | "secrets" | "toleranceSeconds" | "assumptions"
> {
  request: ReceivedRequest;
  source: CaptureSource;
  /** @default a new one for the time of arrival */
  id?: string;
}

/**
 * Makes a capture of a received request: its bytes, the readable part of the envelope, and the result of the signature
 * check. The capture contains no secret. Throws `invalid_secret` for an empty one.
 */
export function captureRequest({ request, source, id, ...judge }: CaptureRequestInput): Capture {
  const { method, path, query = "", headers, body: bytes } = request;
  const body = encodeBody(bytes);
  return {
    v: 1,
    id: id ?? makeCaptureId(judge.receivedAt),
    receivedAt: new Date(judge.receivedAt).toISOString(),
    source,
    request: { method, path, query, headers, body, sha256: digestBytes(bytes) },
    event: readEnvelope(body),
    verify: judgeSignature({ ...judge, headers, body: bytes }),
    attempts: [],
    tags: [],
    note: "",
    pinned: false,
    redaction: null,
  };
}

/** The exact bytes that were received. */
export function bodyBytes(capture: Capture): Uint8Array {
  return decodeBody(capture.request.body);
}

/** Hex SHA-256. */
export function digestBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
