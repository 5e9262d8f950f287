import { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { SECOND } from "../../base/duration.js";
import { errorMessage } from "../../base/error-text.js";
import type { HeaderList } from "../../capture/model/capture.js";
import { headerListReader } from "../../capture/model/judge-signature.js";
import type { SenderAnswer, ReceiveDelivery } from "../forward/forwarder.js";
import type { Report } from "../lines/dev-event.js";
import { type BodyResult, readRequestBody } from "../../web/read-request-body.js";
import { splitUrl } from "../../web/split-url.js";
import { senderAddress, sourceOf } from "./sender-address.js";

const BODY_TIMEOUT_MS = 10 * SECOND;

/** Memory of all deliveries at the same time; one is always taken. Above it the service is to send again. */
const MAX_BYTES_AT_ONCE = 32 * 1024 * 1024;

/** Counted for each besides its body, so that there are 200 at most. */
const BYTES_OF_EACH = MAX_BYTES_AT_ONCE / 200;

const BUSY: SenderAnswer = { status: 503, headers: [["Retry-After", "5"]], body: Buffer.from("busy\n") };

export interface CaptureListenerOptions {
  /** The only path that accepts deliveries. */
  path: string;
  maxBodyBytes: number;
  /** Lower-case name of the signature's header. */
  signatureHeader: string;
  receive: ReceiveDelivery;
  report: Report;
}

/**
 * The only listener that a tunnel exposes: accepts POSTs at one path and serves nothing. A signed delivery at another
 * path is answered 503, so that it is sent again and not lost to a misspelt URL.
 */
export function createCaptureListener(options: CaptureListenerOptions): RequestListener {
  let bytesAtWork = 0;

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const arrivedAt = splitUrl(req.url ?? "");
    const headers = headerList(req.rawHeaders);
    const from = senderAddress(req.socket.remoteAddress, headers);
    const source = sourceOf(req.socket.remoteAddress, headers);
    const method = req.method ?? "";
    const refuse = ({ reason, status, extra = [] }: RefusedRequest): void => {
      options.report({ kind: "refused", reason, status, method, path: arrivedAt.path, from });
      writeAnswer(req, res, { status, headers: extra, body: Buffer.from(`${reason}\n`) });
    };
    const refusal = refusalOf({ method, path: arrivedAt.path, headers }, options);
    if (refusal !== undefined) return refuse(refusal);
    let taken = 0;
    const take = (bytes: number): boolean => {
      taken += bytes;
      bytesAtWork += bytes;
      return bytesAtWork <= MAX_BYTES_AT_ONCE || bytesAtWork === taken;
    };
    try {
      const limits = { maxBytes: options.maxBodyBytes, timeoutMs: BODY_TIMEOUT_MS, take };
      const read: BodyResult = take(BYTES_OF_EACH) ? await readRequestBody(req, limits) : { kind: "busy" };
      switch (read.kind) {
        case "read": {
          const request = { method, ...arrivedAt, headers, body: read.body };
          writeAnswer(req, res, await options.receive({ request, source, from }));
          return;
        }
        case "too_large":
          refuse({ reason: "too_large", status: 413 });
          return;
        case "timeout":
          refuse({ reason: "body_timeout", status: 408 });
          return;
        case "busy":
          writeAnswer(req, res, BUSY);
          return;
        case "aborted":
          res.destroy();
      }
    } finally {
      bytesAtWork -= taken;
    }
  }

  return (req, res) => {
    answer(req, res).catch((error: unknown) => {
      options.report({ kind: "problem", what: `A delivery could not be taken: ${errorMessage(error)}`, fix: null });
      if (res.headersSent) res.destroy();
      else writeAnswer(req, res, { status: 503, headers: [["Retry-After", "30"]], body: Buffer.from("error\n") });
    });
  };
}

interface RefusedRequest {
  reason: "wrong_method" | "wrong_path" | "too_large" | "body_timeout";
  status: number;
  extra?: HeaderList;
}

/** Why a request is refused before its body is read; undefined for a delivery. */
function refusalOf(
  { method, path, headers }: { method: string; path: string; headers: HeaderList },
  wanted: Pick<CaptureListenerOptions, "path" | "signatureHeader">,
): RefusedRequest | undefined {
  if (!isPath(path, wanted.path)) {
    const isSigned = method === "POST" && headerListReader(headers)(wanted.signatureHeader) !== undefined;
    if (isSigned) return { reason: "wrong_path", status: 503, extra: [["Retry-After", "60"]] };
    return { reason: "wrong_path", status: 404 };
  }
  return method === "POST" ? undefined : { reason: "wrong_method", status: 405, extra: [["Allow", "POST"]] };
}

function writeAnswer(req: IncomingMessage, res: ServerResponse, answer: SenderAnswer): void {
  if (res.destroyed || res.headersSent) return;
  const hasBody = req.method !== "HEAD" && answer.status !== 204 && answer.status !== 304;
  const headers = answer.headers.filter(([name]) => name.toLowerCase() !== "content-length");
  if (hasBody) headers.push(["Content-Length", String(answer.body.byteLength)]);
  // The unread rest of the body would be parsed as the next request.
  if (!req.complete) headers.push(["Connection", "close"]);
  res.writeHead(answer.status, headers.flat());
  res.end(hasBody ? answer.body : undefined);
  if (!req.complete) req.resume();
}

/** A slash at the end is ignored. */
function isPath(path: string, wanted: string): boolean {
  return path === wanted || path === `${wanted}/`;
}

function headerList(raw: readonly string[]): HeaderList {
  const list: HeaderList = [];
  for (let index = 0; index + 1 < raw.length; index += 2) list.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return list;
}
