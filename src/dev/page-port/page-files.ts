import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { type BuiltFile, readBuiltFiles } from "./read-built-files.js";

/** The folder of the built page. */
export const PAGE_FOLDER = fileURLToPath(new URL("../../../dist/page", import.meta.url));

const NONCE_PLACEHOLDER = "__CSP_NONCE__";

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
};

const NOT_BUILT = `The page of the dev server is not in this installation: dist/page/index.html is missing.
In a checkout of the package, build it with "npm run build". Capturing and forwarding work without it.
`;

/** Sent with everything on the page's port. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** `style-src` has the nonce for the JSON editor, which creates its style sheet at run time. */
export function contentSecurityPolicy(nonce?: string): string {
  const style = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return [
    "default-src 'self'",
    `style-src ${style}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The page's static files. Only files found in the folder are served, so that no path leads out of it. */
export function createPageFiles(folder = PAGE_FOLDER) {
  let files: ReadonlyMap<string, BuiltFile> = new Map();

  /** Answers a GET; false when there is no such file. */
  function serve(path: string, res: ServerResponse): boolean {
    if (!files.has("/index.html")) files = readBuiltFiles(folder, MEDIA_TYPES);
    if (path === "/" || path === "/index.html") {
      serveIndex(files.get("/index.html"), res);
      return true;
    }
    const file = files.get(path);
    if (file === undefined) return false;
    // The build puts a content hash into the names under /assets.
    const cache = path.startsWith("/assets/") ? "private, max-age=31536000, immutable" : "no-store";
    send(res, file.bytes, { "content-type": file.type, "cache-control": cache });
    return true;
  }

  return { serve };
}

function serveIndex(file: BuiltFile | undefined, res: ServerResponse): void {
  if (file === undefined) {
    send(res, Buffer.from(NOT_BUILT), { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
    return;
  }
  const nonce = randomBytes(16).toString("base64");
  send(res, Buffer.from(file.bytes.toString().replaceAll(NONCE_PLACEHOLDER, nonce)), {
    "content-type": file.type,
    "cache-control": "no-store",
    "content-security-policy": contentSecurityPolicy(nonce),
  });
}

function send(res: ServerResponse, bytes: Buffer, headers: Record<string, string>): void {
  res.writeHead(200, { ...headers, "content-length": bytes.byteLength });
  res.end(bytes);
}
