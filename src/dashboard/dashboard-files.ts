import { fileURLToPath } from "node:url";
import { type BuiltFile, readBuiltFiles } from "../dev/page-port/read-built-files.js";
import { type DashboardAnswer, textAnswer } from "./dashboard-request.js";

/** The folder of the built page. */
const PAGE_FOLDER = fileURLToPath(new URL("../../dist/dashboard-page", import.meta.url));

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const NOT_BUILT = `The page of the dashboard is not in this installation: dist/dashboard-page/index.html is missing.
In a checkout of the package, build it with "npm run build". The API under api/ works without it.`;

/** Sent with every answer. Nothing may be kept, guessed, framed or loaded from elsewhere. */
export const DASHBOARD_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store, no-transform",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** The page's files. They are looked up by their whole path among those that were found, so no path leads elsewhere. */
export class DashboardFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, BuiltFile> | undefined;

  constructor(folder = PAGE_FOLDER) {
    this.#folder = folder;
  }

  /** Undefined when there is no such file. */
  answer(path: string): DashboardAnswer | undefined {
    const files = (this.#files ??= readBuiltFiles(this.#folder, MEDIA_TYPES));
    const file = files.get(path === "/" ? "/index.html" : path);
    if (file !== undefined) {
      // The build puts a digest of the contents into the names under assets.
      const cache: Record<string, string> = path.startsWith("/assets/")
        ? { "cache-control": "private, max-age=31536000, immutable" }
        : {};
      return { kind: "whole", status: 200, headers: { "content-type": file.type, ...cache }, body: file.bytes };
    }
    return path === "/" ? textAnswer(503, NOT_BUILT) : undefined;
  }
}
