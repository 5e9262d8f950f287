import type { PageApiErrorBody } from "../dev/api/page-api.js";
import type { DashboardRequest } from "./dashboard-request.js";

/** Why a request is refused before anything is done. */
export interface RequestRefusal {
  status: 403 | 405 | 415;
  body: PageApiErrorBody;
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/**
 * Keeps pages of other origins away, although the browser sends the login's cookie with their requests. Undefined for a
 * request that may go on. The page itself can be opened by a link from anywhere; what it reads and does is asked for by
 * itself only. No header that allows another origin is ever sent.
 */
export function guardOrigin(request: DashboardRequest, ownOrigin: string | undefined): RequestRefusal | undefined {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead) return request.path.startsWith("/api/") && isOfOther(request) ? FOREIGN : undefined;
  if (request.method !== "POST") return refuse(405, "wrong_method", "The dashboard takes GET and POST.");
  if (isOfOther(request) || !isFromOwnPage(request, ownOrigin)) return FOREIGN;
  if (JSON_TYPE.test(request.header("content-type") ?? "")) return undefined;
  return refuse(415, "not_json", "An action must have content-type: application/json.");
}

const FOREIGN = refuse(403, "foreign_origin", "Actions come from the dashboard's own page only.");

/** What the browser says, which no page can change. Old browsers and programs say nothing. */
function isOfOther(request: DashboardRequest): boolean {
  const site = request.header("sec-fetch-site");
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/**
 * An action names its page: by what the browser says, or by the origin. The host of an origin is compared with the one
 * that was asked for, which a proxy may have changed, unless the app names its own; the browser's own word comes first.
 */
function isFromOwnPage(request: DashboardRequest, ownOrigin: string | undefined): boolean {
  if (request.header("sec-fetch-site") === "same-origin") return true;
  const origin = request.header("origin");
  if (ownOrigin !== undefined) return origin === ownOrigin;
  const host = request.header("host");
  return origin !== undefined && host !== undefined && hostOf(origin) === host.toLowerCase();
}

function hostOf(origin: string): string | undefined {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return undefined;
  return new URL(origin).host;
}

function refuse(status: RequestRefusal["status"], code: string, message: string): RequestRefusal {
  return { status, body: { code, message } };
}
