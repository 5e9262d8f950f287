import { PageApiError } from "../web/page-api-error.js";
import { isJsonType, isOfOtherSite } from "../web/same-site.js";
import type { DashboardRequest } from "./dashboard-request.js";

/** Why a request is refused before anything is done. */
export interface RequestRefusal {
  error: PageApiError;
  /** Where an action's page and the dashboard seem to be, which a proxy may be the cause of. */
  hosts?: { page: string; dashboard: string };
}

/**
 * Keeps pages of other origins away, although the browser sends the login's cookie with their requests. Undefined for a
 * request that may go on. The page itself can be opened by a link from anywhere; what it reads and does is asked for by
 * itself only. No header that allows another origin is ever sent.
 */
export function guardOrigin(
  request: DashboardRequest,
  { origin: ownOrigin, hosts }: { origin: string | undefined; hosts: readonly string[] },
): RequestRefusal | undefined {
  const host = request.header("host")?.toLowerCase() ?? "";
  const own = [...hosts, ...(ownOrigin === undefined ? [] : [new URL(ownOrigin).host])];
  if (own.length > 0 && !own.includes(host))
    return { ...FOREIGN_HOST, hosts: { page: host.slice(0, MAX_HOST_LENGTH), dashboard: own.join(", ") } };
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isOfOther = isOfOtherSite(request.header("sec-fetch-site"));
  if (isRead) return request.path.startsWith("/api/") && isOfOther ? FOREIGN_READ : undefined;
  if (request.method !== "POST") return refuse(405, "wrong_method", "The dashboard takes GET and POST.");
  if (isOfOther) return FOREIGN_ACTION;
  if (!isFromOwnPage(request, ownOrigin)) return refuseOrigin(request, ownOrigin);
  if (isJsonType(request.header("content-type"))) return undefined;
  return refuse(415, "not_json", "An action must have content-type: application/json.");
}

const FOREIGN_HOST = refuse(
  403,
  "foreign_host",
  "The dashboard is not at this host. Open it at the host of its option origin, or name this one in its option hosts.",
);
const FOREIGN_READ = refuseForeign("A page of another origin asked for this. Open the dashboard itself.");
const FOREIGN_ACTION = refuseForeign("A page of another origin sent this action. Act on the dashboard's own page.");
const NO_ORIGIN = refuseForeign(
  "The action does not say from which page it comes: it has neither Sec-Fetch-Site nor Origin. Browsers send one.",
);
const OTHER_HOST = refuseForeign(
  'The page of this action is not at the host that the app was asked for. If a proxy changes the host, give createDashboard the option origin: the beginning of the page\'s address, such as "https://ops.example".',
);
const OTHER_ORIGIN = refuseForeign(
  "The page of this action is not at the origin that createDashboard has as its option origin. Open the dashboard there, or correct the option.",
);
/** Of header values in the log. */
const MAX_HOST_LENGTH = 300;

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

/** The answer does not name the hosts; anyone can send any. */
function refuseOrigin(request: DashboardRequest, ownOrigin: string | undefined): RequestRefusal {
  const page = request.header("origin") ?? "";
  if (page === "") return NO_ORIGIN;
  const dashboard = ownOrigin ?? request.header("host") ?? "";
  const hosts = { page: page.slice(0, MAX_HOST_LENGTH), dashboard: dashboard.slice(0, MAX_HOST_LENGTH) };
  return { ...(ownOrigin === undefined ? OTHER_HOST : OTHER_ORIGIN), hosts };
}

function refuseForeign(message: string): RequestRefusal {
  return refuse(403, "foreign_origin", message);
}

function hostOf(origin: string): string | undefined {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return undefined;
  return new URL(origin).host;
}

function refuse(status: 403 | 405 | 415, code: string, message: string): RequestRefusal {
  return { error: new PageApiError(status, { code, message }) };
}
