import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { sampleEvent, signDelivery, TEST_SECRET } from "pigeonhole/testing";
import type { Capture, CaptureAttempt, CaptureSource, HeaderList } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { serve as serveHere } from "./serve.js";
import { readBytes } from "./read-body.js";

export const NOW = Date.UTC(2026, 0, 31, 12);

export interface MakeCapture {
  body?: string | Uint8Array;
  /** Milliseconds since 1970. */
  at?: number;
  headers?: HeaderList;
  source?: CaptureSource;
  /** Secret it is signed with. */
  secret?: string;
  path?: string;
}

/** An attempt that was forwarded and answered 200 without a body. */
export function makeAttempt(fields: Partial<CaptureAttempt> = {}): CaptureAttempt {
  return {
    n: 1,
    kind: "forward",
    mode: "exact",
    target: "http://127.0.0.1:3000/",
    at: new Date(NOW).toISOString(),
    eventId: null,
    sentHeaders: [],
    sentBody: null,
    status: 200,
    headers: [],
    body: null,
    ms: 1,
    error: null,
    ...fields,
  };
}

/** A capture of a signed delivery, as the capture port makes it. */
export function makeCapture({ at = NOW, source = "live", secret = TEST_SECRET, ...input }: MakeCapture = {}): Capture {
  const body = Buffer.from(input.body ?? JSON.stringify(sampleEvent("email.bounced")));
  const signed = Object.entries(signDelivery({ body, secret, timestamp: at }));
  const headers: HeaderList = input.headers ?? [
    ["Content-Type", "application/json"],
    ["X-Dup", "1"],
    ["x-dup", "2"],
    ...signed,
  ];
  return captureRequest({
    request: { method: "POST", path: input.path ?? "/webhooks", headers, body },
    receivedAt: at,
    source,
    secrets: [{ ref: "env:WEBHOOK_SECRET", value: TEST_SECRET }],
  });
}

/** The URL of a real server, which is closed when the test ends. */
export const serve = async (listener: RequestListener): Promise<string> => (await serveHere(listener)).url;

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

/** A server that keeps what it receives and answers what it is told to. */
export async function serveAnswers(
  answer: (
    received: ReceivedRequest,
    count: number,
  ) => { status?: number; headers?: Record<string, string>; body?: string } = () => ({}),
): Promise<{ url: string; received: ReceivedRequest[] }> {
  const received: ReceivedRequest[] = [];
  const take = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = "", url: path = "", headers, rawHeaders } = req;
    const one = { method, url: path, headers, rawHeaders, body: await readBytes(req) };
    const { status = 200, headers: more = {}, body = "" } = answer(one, received.push(one));
    res.writeHead(status, more).end(body);
  };
  const url = await serve((req, res) => void take(req, res).catch(() => res.destroy()));
  return { url, received };
}
