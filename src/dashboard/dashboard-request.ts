import { SECOND } from "../base/duration.js";
import type { PageApiErrorBody } from "../dev/api/page-api.js";

/** One request, whatever the server. */
export interface DashboardRequest {
  method: string;
  /** Behind the mount, not decoded; begins with a slash. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Last segment of the mount when the URL ends there without a slash, so that relative URLs would miss the mount. */
  bareMount: string | undefined;
  /** Of the server, for the app's `allow`. */
  original: unknown;
  /** The value of a header by its lower-case name; several are joined. */
  header(name: string): string | undefined;
  readBody(): Promise<RequestBody>;
  /** Aborts once the client has gone. */
  signal: AbortSignal;
}

/** The JSON of a request's body. */
export type RequestBody =
  | { kind: "read"; json: unknown }
  | { kind: "not_json" }
  | { kind: "too_large" }
  | { kind: "timeout" }
  /** Another parser has read it and left nothing. */
  | { kind: "consumed" };

/** Largest body of an action: the keys of 500 contact events fit. */
export const MAX_ACTION_BYTES = 256 * 1024;

/** Longest wait for the body of an action, in milliseconds. */
export const ACTION_TIMEOUT_MS = 10 * SECOND;

/** The JSON of a body that was read. */
export function parseBody(text: string): RequestBody {
  if (text.length > MAX_ACTION_BYTES) return { kind: "too_large" };
  try {
    return { kind: "read", json: JSON.parse(text) as unknown };
  } catch {
    return { kind: "not_json" };
  }
}

/** Writes to a client for as long as it is connected. */
export interface StreamSink {
  /** False when the client does not read what it is sent. */
  write(text: string): boolean;
  end(): void;
}

/** What a request is answered with. */
export type DashboardAnswer =
  | { kind: "whole"; status: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array }
  /** `open` gets a sink and returns what is called when the client has gone. */
  | { kind: "stream"; headers: Readonly<Record<string, string>>; open: (sink: StreamSink) => () => void };

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

export function jsonAnswer(status: number, value: unknown): DashboardAnswer {
  return { kind: "whole", status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

export function errorAnswer(status: number, body: PageApiErrorBody): DashboardAnswer {
  return jsonAnswer(status, body);
}

/** A page for people, of plain text: it needs no style and no script. */
export function textAnswer(status: number, text: string): DashboardAnswer {
  return { kind: "whole", status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}
