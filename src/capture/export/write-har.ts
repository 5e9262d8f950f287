import { describeRedaction } from "./describe-redaction.js";
import { outcomeOf } from "../model/answer.js";
import type { Capture, CaptureAttempt, CapturedBody, HeaderList } from "../model/capture.js";
import { bodySize } from "../model/captured-body.js";

/** HAR 1.2 with one entry per capture. The answer is that of the last attempt, with status 0 if there is none. */
export function writeHar(captures: readonly Capture[]): string {
  const creator = { name: "pigeonhole", version: "1" };
  const log = { version: "1.2", creator, entries: captures.map(writeEntry) };
  return `${JSON.stringify({ log }, undefined, 2)}\n`;
}

function writeEntry(capture: Capture): object {
  const { method, path, query, headers, body } = capture.request;
  const last = capture.attempts.at(-1);
  const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "localhost";
  return {
    startedDateTime: capture.receivedAt,
    time: last?.ms ?? 0,
    request: {
      method,
      url: `http://${host}${path}${query === "" ? "" : `?${query}`}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: writeHeaders(headers),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      postData: { mimeType: mimeType(headers), ...writeContent(body) },
      headersSize: -1,
      bodySize: bodySize(body),
    },
    response: writeResponse(last),
    cache: {},
    timings: { send: 0, wait: last?.ms ?? 0, receive: 0 },
    comment: [capture.id, capture.event.type ?? "", describeRedaction(capture)].filter((text) => text !== "").join(" "),
  };
}

function writeResponse(attempt: CaptureAttempt | undefined): object {
  const headers = attempt?.headers ?? [];
  const body = attempt?.body ?? { encoding: "utf8" as const, data: "" };
  return {
    status: attempt?.status ?? 0,
    statusText: outcomeOf(headers) ?? "",
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: writeHeaders(headers),
    content: { size: bodySize(body), mimeType: mimeType(headers), ...writeContent(body) },
    redirectURL: "",
    headersSize: -1,
    bodySize: -1,
  };
}

function writeHeaders(headers: HeaderList): { name: string; value: string }[] {
  return headers.map(([name, value]) => ({ name, value }));
}

function writeContent({ encoding, data }: CapturedBody): { text: string; encoding?: string } {
  return encoding === "base64" ? { text: data, encoding } : { text: data };
}

function mimeType(headers: HeaderList): string {
  return headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
}
