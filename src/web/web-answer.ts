/** Writes to a client for as long as it is connected. */
export interface StreamSink {
  /** False when the client does not read what it is sent. */
  write(text: string): boolean;
  end(): void;
}

/** The answer to a request, whatever the server. */
export type WebAnswer =
  | { kind: "whole"; status: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array }
  /** `open` gets a sink and returns a function to be called when the client has gone. */
  | { kind: "stream"; headers: Readonly<Record<string, string>>; open: (sink: StreamSink) => () => void };

/** Sent with every answer. Nothing may be kept, guessed, framed or loaded from elsewhere. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store, no-transform",
  "content-security-policy": contentSecurityPolicy(),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** With a nonce for the JSON editor, which creates its style sheet at run time. */
export function contentSecurityPolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export function jsonAnswer(status: number, value: unknown): WebAnswer {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { kind: "whole", status, headers, body: JSON.stringify(value) };
}

/** A page for people, of plain text: it needs no style and no script. */
export function textAnswer(status: number, text: string): WebAnswer {
  return { kind: "whole", status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}

/** A stream of server-sent events. */
export function eventStreamAnswer(open: (sink: StreamSink) => () => void): WebAnswer {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
  return { kind: "stream", headers, open };
}
