import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_FOLDER } from "../base/package-folder.js";
import { type WebAnswer, contentSecurityPolicy, textAnswer } from "./web-answer.js";

const NONCE_PLACEHOLDER = "__CSP_NONCE__";
const FACE_PLACEHOLDER = "__FACE__";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

interface BuiltFile {
  type: string;
  bytes: Buffer;
}

/** The files of a built page. They are looked up by their whole path among those found, so no path leads elsewhere. */
export class BuiltFiles {
  readonly #folder: string;
  readonly #face: "dev" | "dashboard";
  #files: ReadonlyMap<string, BuiltFile> = new Map();

  /** `folder`: an absolute path, or the name of a folder in dist. */
  constructor(face: "dev" | "dashboard", folder = "page") {
    this.#face = face;
    this.#folder = fileURLToPath(new URL(folder, new URL("dist/", PACKAGE_FOLDER)));
  }

  /** Undefined when there is no such file. */
  answer(path: string): WebAnswer | undefined {
    if (!this.#files.has("/index.html")) this.#files = readFiles(this.#folder);
    if (path === "/" || path === "/index.html") return this.#answerIndex();
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    // The build puts a digest of the contents into the names under assets.
    const cache: Record<string, string> = path.startsWith("/assets/")
      ? { "cache-control": "private, max-age=31536000, immutable" }
      : {};
    return { kind: "whole", status: 200, headers: { "content-type": file.type, ...cache }, body: file.bytes };
  }

  #answerIndex(): WebAnswer {
    const index = this.#files.get("/index.html");
    if (index === undefined)
      return textAnswer(
        503,
        `This page is not in this installation: ${join(this.#folder, "index.html")} is missing.
In a checkout of the package, build it with "npm run build". All else works without it.`,
      );
    const nonce = randomBytes(16).toString("base64");
    return {
      kind: "whole",
      status: 200,
      headers: { "content-type": index.type, "content-security-policy": contentSecurityPolicy(nonce) },
      body: index.bytes.toString().replaceAll(NONCE_PLACEHOLDER, nonce).replace(FACE_PLACEHOLDER, this.#face),
    };
  }
}

/** By their path from the folder, such as `/index.html`; empty when the page is not built. */
function readFiles(folder: string): ReadonlyMap<string, BuiltFile> {
  const files = new Map<string, BuiltFile>();
  const walk = (inner: string): void => {
    for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const path = `${inner}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      const type = MEDIA_TYPES[extname(entry.name)];
      if (entry.isFile() && type !== undefined) files.set(path, { type, bytes: readFileSync(join(folder, path)) });
    }
  };
  try {
    walk("");
  } catch {
    // Not built: the page says so.
  }
  return files;
}
