import type { IncomingMessage } from "node:http";
import { isJsonType, isOfOtherSite } from "../../web/same-site.js";
import { type GuardSecrets, isSameToken } from "./project-tokens.js";

export type GuardVerdict =
  | { kind: "pass" }
  /** The token of the URL was right: set this cookie and go to the page without the token. */
  | { kind: "enter"; cookie: string }
  | { kind: "refuse"; status: 401 | 403 | 421 | 415; code: string; message: string };

const HOST = /^(?:localhost|127\.0\.0\.1|\[::1\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.localhost)(?::(\d{1,5}))?$/;

/**
 * Decides before any routing whether a request is allowed, including the event stream and files.
 *
 * 1. `Host` must name this machine: a foreign name that resolves to this machine is an attack (DNS rebinding).
 * 2. `Origin`, if present, must be ours. No CORS header is ever sent.
 * 3. The cookie, the bearer token, or the token in the URL must be right.
 * 4. The browser's `Sec-Fetch-Site` must be "same-origin" or "none".
 * 5. A change must have JSON and our own header, which a page of another origin cannot send without CORS.
 */
export function guardRequest(req: IncomingMessage, secrets: GuardSecrets): GuardVerdict {
  const { headers } = req;
  if (!isOwnHost(headers.host, secrets.port)) {
    return refuse(421, "foreign_host", "This port answers under localhost, 127.0.0.1 and [::1] only.");
  }
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, secrets.port)) {
    return refuse(403, "foreign_origin", "Pages of other origins may not use this port.");
  }
  // Also with a cookie: the token of a bookmark is removed from the address bar again.
  if (hasUrlToken(req, secrets)) return { kind: "enter", cookie: cookieFor(secrets) };
  if (!isLoggedIn(req, secrets)) {
    return refuse(401, "no_token", "Open the page with the whole URL that the dev server printed, token included.");
  }
  if (isOfOtherSite(headers["sec-fetch-site"])) {
    return refuse(403, "foreign_origin", "Pages of other origins may not use this port.");
  }
  if (req.method === "GET" || req.method === "HEAD") return { kind: "pass" };
  if (!isJsonType(headers["content-type"])) {
    return refuse(415, "not_json", "A change must have content-type: application/json.");
  }
  if (headers["x-pigeonhole"] !== "1") {
    return refuse(403, "header_missing", "A change must have the header x-pigeonhole: 1.");
  }
  return { kind: "pass" };
}

/** Cookies are shared by all ports of a host, so the name contains the port. */
function cookieName(port: number): string {
  return `pigeonhole_${port}`;
}

function cookieFor({ port, cookieToken }: GuardSecrets): string {
  return `${cookieName(port)}=${cookieToken}; Path=/; HttpOnly; SameSite=Strict`;
}

function isOwnHost(host: string | undefined, port: number): boolean {
  const match = HOST.exec((host ?? "").toLowerCase());
  return match !== null && Number(match[1] ?? 80) === port;
}

function isOwnOrigin(origin: string, port: number): boolean {
  const prefix = "http://";
  return origin.startsWith(prefix) && isOwnHost(origin.slice(prefix.length), port);
}

function isLoggedIn({ headers }: IncomingMessage, { port, urlToken, cookieToken }: GuardSecrets): boolean {
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined && isSameToken(bearer, urlToken)) return true;
  const name = `${cookieName(port)}=`;
  const cookies = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return cookies.some((pair) => pair.startsWith(name) && isSameToken(pair.slice(name.length), cookieToken));
}

function hasUrlToken({ method, url = "" }: IncomingMessage, { urlToken }: GuardSecrets): boolean {
  if (method !== "GET" || !url.startsWith("/?")) return false;
  const token = new URLSearchParams(url.slice(2)).get("t");
  return token !== null && isSameToken(token, urlToken);
}

function refuse(status: 401 | 403 | 421 | 415, code: string, message: string): GuardVerdict {
  return { kind: "refuse", status, code, message };
}
