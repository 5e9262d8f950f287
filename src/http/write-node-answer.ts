import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { SECOND } from "../base/duration.js";
import type { Answer } from "../protocol/outcome.js";
import { ANSWER_TYPE } from "./answer-request.js";
import type { Intake } from "./intake.js";

/** How long a sender that is still sending may go on after its answer. */
const LINGER_MS = 1 * SECOND;

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
}

/** Writes the answer, unless somebody else has or nobody is left to hear it. Keeps the connection when it can. */
export async function writeNodeAnswer(exchange: Exchange, answer: Answer, intake: Intake): Promise<void> {
  const { req, res } = exchange;
  // A small body comes in one packet with its headers, but Node parses it after this turn of the event loop.
  if (!req.complete) await setImmediate();
  if (res.headersSent || res.destroyed) return;
  // Express sets it before any route runs.
  res.removeHeader("x-powered-by");
  const headers: Record<string, string | number> = { ...answer.headers };
  headers["content-length"] = Buffer.byteLength(answer.body);
  if (answer.body !== "") headers["content-type"] = ANSWER_TYPE;
  if (req.complete) {
    res.writeHead(answer.status, headers);
    // An empty string would still cost a second write.
    if (answer.body === "") res.end();
    else res.end(answer.body);
    return;
  }
  headers["connection"] = "close";
  res.writeHead(answer.status, headers).flushHeaders();
  res.write(answer.body);
  endWhenSent(exchange, intake);
}

/**
 * Closing under a sender that still sends makes its kernel throw away an answer it has not read yet. So the whole
 * answer goes out, the rest of the body is discarded for a while, and only then the response ends, at which Node closes
 * the connection.
 */
function endWhenSent({ req, res }: Exchange, intake: Intake): void {
  const end = (): void => {
    timer.cancel();
    if (!res.writableEnded) res.end();
  };
  const timer = intake.clock.setTimer(end, LINGER_MS);
  req.once("end", end);
  req.once("close", end);
  req.resume();
}
