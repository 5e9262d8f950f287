import type { IncomingMessage, ServerResponse } from "node:http";
import { SAFETY_HEADERS, type StreamSink, type WebAnswer } from "./web-answer.js";

/** A client that reads so slowly is disconnected; it connects again and asks for what it missed. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Answers a request of node:http. */
export function writeAnswer(req: IncomingMessage, res: ServerResponse, answer: WebAnswer): void {
  if (res.headersSent || res.destroyed) return;
  res.removeHeader("x-powered-by");
  const headers = { ...SAFETY_HEADERS, ...answer.headers };
  if (answer.kind === "stream") {
    res.writeHead(200, headers).flushHeaders();
    res.on("error", () => undefined);
    const close = answer.open(sinkOf(res));
    res.on("close", close);
    return;
  }
  // The unread rest of a body would be parsed as the next request.
  const isUnread = req.method !== "GET" && req.method !== "HEAD" && !req.complete;
  const bytes = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  res.writeHead(answer.status, {
    ...headers,
    "content-length": bytes.byteLength,
    ...(isUnread ? { connection: "close" } : {}),
  });
  if (isUnread) req.resume();
  // Node omits the body in the answer to a HEAD.
  res.end(bytes);
}

function sinkOf(res: ServerResponse): StreamSink {
  return {
    write(text) {
      if (res.destroyed || res.writableEnded) return false;
      if (res.writableLength > MAX_UNREAD_BYTES) {
        res.destroy();
        return false;
      }
      res.write(text);
      return true;
    },
    end: () => void res.end(),
  };
}
