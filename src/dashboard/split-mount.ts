import { splitUrl } from "../web/split-url.js";
import { type WebAnswer, textAnswer } from "../web/web-answer.js";
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
  const { path: whole, query } = splitUrl(url);
  const { path: asked } = splitUrl(original);
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

/** The answer for a URL beside the mount, where nothing else answers. */
export function elsewhere(): WebAnswer {
  return textAnswer(404, "The dashboard is mounted elsewhere.");
}

/** A path of the API without a slash at its end, which hosts may add by a redirect, such as Next.js. */
function withoutSlash(path: string): string {
  return /^\/api\/.+\/$/.test(path) ? path.slice(0, -1) : path;
}

function behind(mount: string, path: string): string | undefined {
  if (path === mount) return "";
  return path.startsWith(`${mount}/`) ? path.slice(mount.length) : undefined;
}
