import type { IncomingMessage } from "node:http";
import { isSameToken } from "./session-token.js";

/** What keeps other people's pages and programs away from the page's port. */
export interface GuardSecrets {
  /** The port that the page is reached at. */
  port: number;
  /** Stands in the printed URL, and in `Authorization: Bearer` of scripts. */
  urlToken: string;
  /** Value of the cookie. */
  cookieToken: string;
}

export type GuardVerdict =
  | { kind: "pass" }
  /** The token of the URL was right: set this cookie and go to the page without the token. */
  | { kind: "enter"; cookie: string }
  | { kind: "refuse"; status: 401 | 403 | 421 | 415; code: string; message: string };

const HOST = /^(?:localhost|127\.0\.0\.1|\[::1\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.localhost)(?::(\d{1,5}))?$/;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/**
 * Decides before any routing whether a request may come in; event stream and files included.
 *
 * 1. `Host` must name this machine: a foreign name that resolves here is another site's page (DNS rebinding).
 * 2. `Origin`, where there is one, must be ours. No CORS header is ever sent.
 * 3. The cookie, the bearer token, or once the token in the URL.
 * 4. What the browser says of the request's origin must be "same-origin" or "none".
 * 5. A change carries JSON and our own header, which no page of another origin can send unasked.
 */
export function guardRequest(req: IncomingMessage, secrets: GuardSecrets): GuardVerdict {
  const { headers } = req;
  if (!isOwnHost(headers.host, secrets.port)) {
    return refuse(421, "foreign_host", "This port answers under localhost, 127.0.0.1 and [::1] only.");
  }
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, secrets.port)) {
    return refuse(403, "foreign_origin", "Pages of other origins may not use this port.");
  }
  if (!isLoggedIn(req, secrets)) {
    if (hasUrlToken(req, secrets)) return { kind: "enter", cookie: cookieFor(secrets) };
    return refuse(401, "no_token", "Open the page with the whole URL that the dev server printed, token included.");
  }
  // Someone who bookmarked the printed URL comes back with it: the token leaves the address bar again.
  if (hasUrlToken(req, secrets)) return { kind: "enter", cookie: cookieFor(secrets) };
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return refuse(403, "foreign_origin", "Pages of other origins may not use this port.");
  }
  if (req.method === "GET" || req.method === "HEAD") return { kind: "pass" };
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) {
    return refuse(415, "not_json", "A change is sent as content-type: application/json.");
  }
  if (headers["x-pigeonhole"] !== "1") {
    return refuse(403, "header_missing", "A change carries the header x-pigeonhole: 1.");
  }
  return { kind: "pass" };
}

/** Cookies do not tell ports apart, so the name does. */
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
