import { CUT_TAG, type Capture, type CaptureAttempt, type CaptureSource } from "../../capture/model/capture.js";
import type { HeaderList } from "../../capture/model/capture.js";
import { type ReceivedRequest, bodyBytes, captureRequest } from "../../capture/model/capture-request.js";
import { encodeAnswerBody, encodeBody } from "../../capture/model/encode-body.js";
import { MAX_BYTES_TO_EXPLAIN, type NamedSecret } from "../../capture/model/judge-signature.js";
import { isConnectionHeader, overrideHeaders } from "../../capture/send/outgoing-headers.js";
import { type SendResult, sendRequest } from "../../capture/send/send-request.js";
import { targetUrl } from "../../capture/send/target.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { TARGET_HEADER } from "./target-header.js";
import type { ForwardRule } from "./forward-rules.js";
import type { DevDeliveryEvent, Report } from "../lines/dev-event.js";
import type { TypeMatcher } from "../../protocol/event-pattern.js";
import type { CaptureLog } from "./capture-log.js";
import type { SendingOptions } from "./replay.js";

/** The answer to the sender of a delivery. */
export interface SenderAnswer {
  status: number;
  headers: HeaderList;
  body: Uint8Array;
}

/** An incoming delivery. */
export interface ArrivedDelivery {
  request: ReceivedRequest;
  source: CaptureSource;
  from: string;
}

export type ReceiveDelivery = (arrived: ArrivedDelivery) => Promise<SenderAnswer & { captureId: string }>;

export interface ForwarderOptions extends SendingOptions {
  log: CaptureLog;
  rules: readonly ForwardRule[];
  /** Types that are forwarded. */
  isWanted: TypeMatcher;
  report: Report;
}

/** Seconds after which the service may try again while the app is down. */
const RETRY_AFTER = "5";

/** Longest body of a stranger on disk; that of a longer one was not looked into either. */
const MAX_FOREIGN_BYTES = MAX_BYTES_TO_EXPLAIN;

/**
 * Makes the only path from a received delivery to its answer: capture it, store it, then forward it. A delivery is
 * answered 2xx only by the app, or once it is on disk here.
 */
export function createForwarder(options: ForwarderOptions): ReceiveDelivery {
  const { log, clock, assumptions, secrets, rules, isWanted, report } = options;

  /** Keeps the capture; resolves with whether the disk has it as it came. */
  async function keep(capture: Capture, bytes: Uint8Array): Promise<boolean> {
    const isCut = bytes.byteLength > MAX_FOREIGN_BYTES && isForeign(capture, secrets());
    const { body, tags } = isCut
      ? { body: encodeBody(bytes.subarray(0, MAX_FOREIGN_BYTES)), tags: [CUT_TAG] }
      : { body: { ...capture.request.body }, tags: [] };
    // The app receives the body of this one; the folder reads that of its own from the disk.
    const isStored = await log.keep({ ...capture, tags, request: { ...capture.request, body } });
    return isStored && !isCut;
  }

  async function answer(capture: Capture, isKept: boolean, from: string): Promise<SenderAnswer> {
    const about = ({ status }: SenderAnswer, now = capture): DevDeliveryEvent => ({
      capture: summarizeCapture(now),
      verdict: capture.verify,
      answer: status,
      from,
    });
    const { type } = capture.event;
    const rule = isWanted(type) ? rules.find(({ matches }) => matches(type)) : undefined;
    if (rule === undefined) {
      const kept = keptAnswer(capture, isKept);
      report({ kind: "received", ...about(kept) });
      return kept;
    }
    const { sent, made } = await sendToApp(capture, rule.target, options);
    const { capture: tried, attempt } = await log.addAttempt(capture, made);
    if (sent.failure !== null) {
      const down = later("The app did not answer.");
      report({ kind: "app_down", attempt, ...about(down, tried) });
      return down;
    }
    const own: HeaderList = capture.source === "trigger" ? [[TARGET_HEADER, made.target]] : [];
    const answered = appAnswer(sent, own);
    report({ kind: "forwarded", attempt, ...about(answered, tried) });
    return answered;
  }

  return async ({ request, source, from }) => {
    const receivedAt = clock.now();
    const capture = captureRequest({ request, receivedAt, source, secrets: secrets(), assumptions });
    const isKept = await keep(capture, request.body);
    return { ...(await answer(capture, isKept, from)), captureId: capture.id };
  };
}

/** Sends captured bytes to the app with the header list unchanged, including host. */
async function sendToApp(capture: Capture, target: string, options: SendingOptions) {
  const { timeoutMs, allowRemote, headers, clock, signal } = options;
  const { request } = capture;
  const at = clock.now();
  const url = targetUrl(target, request);
  const sent = await sendRequest({
    url,
    method: request.method,
    headers: overrideHeaders(request.headers, headers),
    body: bodyBytes(capture),
    keepHost: true,
    timeoutMs,
    signal,
    allowRemote,
  });
  const made: Omit<CaptureAttempt, "n"> = {
    kind: "forward",
    mode: "exact",
    target: url,
    at: new Date(at).toISOString(),
    eventId: null,
    sentHeaders: sent.sentHeaders,
    sentBody: null,
    status: sent.status,
    headers: sent.headers,
    body: encodeAnswerBody(sent.headers, sent.body),
    ms: sent.ms,
    error: sent.error,
  };
  return { sent, made };
}

function appAnswer({ status, headers, body }: SendResult, own: HeaderList): SenderAnswer {
  const kept = headers.filter(([name]) => !isConnectionHeader(name));
  return { status: status ?? 502, headers: [...kept, ...own], body };
}

/** 202: accepted and stored, not handled. */
function keptAnswer(capture: Capture, isKept: boolean): SenderAnswer {
  if (!isKept) return later("The delivery could not be written to disk as it came.");
  return { status: 202, headers: [["X-Pigeonhole-Capture", capture.id]], body: new Uint8Array() };
}

function later(why: string): SenderAnswer {
  return {
    status: 503,
    headers: [
      ["Content-Type", "text/plain; charset=utf-8"],
      ["Retry-After", RETRY_AFTER],
    ],
    body: Buffer.from(`${why}\n`),
  };
}

/** Anyone can send it: no secret has made its signature, as far as that can be said here. */
function isForeign({ verify: { code } }: Capture, secrets: readonly NamedSecret[]): boolean {
  return code === "missing" || code === "malformed" || (code === "mismatch" && secrets.length > 0);
}
