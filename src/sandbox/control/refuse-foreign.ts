import type { IncomingMessage, ServerResponse } from "node:http";

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * Answers 403 and returns true if the request comes from a page of a website: from another origin, or by a host name
 * that resolves to this machine (DNS rebinding).
 */
export function refuseForeign(req: IncomingMessage, res: ServerResponse): boolean {
  const { host = "", origin } = req.headers;
  const isLocal = LOCAL_HOST.test(host) && (origin === undefined || origin === `http://${host}`);
  if (isLocal) return false;
  req.resume();
  const message = "Only programs on this machine may call this API: the Host or the Origin is another one.";
  res.writeHead(403, { "content-type": "application/json; charset=utf-8" });
  res.end(JSON.stringify({ code: "foreign_request", message }));
  return true;
}
