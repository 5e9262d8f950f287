import type { DashboardRequest } from "./dashboard-request.js";

/** A request's URL and where the dashboard is mounted. */
export interface MountedUrl {
  /** As the server passes it on: without the mount if it cuts that off. */
  url: string;
  /** As it was asked for. */
  original: string;
  /** The option `path`. */
  mount: string | undefined;
}

/** Where in the dashboard a URL leads; undefined for one beside the mount. */
export function splitMount({
  url,
  original,
  mount,
}: MountedUrl): Pick<DashboardRequest, "path" | "query" | "bareMount"> | undefined {
  const [whole, query] = splitQuery(url);
  const [asked] = splitQuery(original);
  const isCut = url !== original;
  const path = mount === undefined || isCut ? whole : behind(mount, whole);
  if (path === undefined) return undefined;
  // Its relative URLs would lead beside the mount.
  const isBare = (path === "" || path === "/") && asked !== "" && !asked.endsWith("/");
  return {
    path: path === "" ? "/" : withoutSlash(path),
    query,
    bareMount: isBare ? asked.slice(asked.lastIndexOf("/") + 1) : undefined,
  };
}

/** A path of the API without a slash at its end, which hosts may add by a redirect, such as Next.js. */
function withoutSlash(path: string): string {
  return /^\/api\/.+\/$/.test(path) ? path.slice(0, -1) : path;
}

function behind(mount: string, path: string): string | undefined {
  if (path === mount) return "";
  return path.startsWith(`${mount}/`) ? path.slice(mount.length) : undefined;
}

function splitQuery(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
