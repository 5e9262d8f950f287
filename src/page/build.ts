import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

// Builds the page, unless all files that its last build read are as they were then.

const ROOT = resolve(import.meta.dirname, "../..");
const CONFIG = join(import.meta.dirname, "vite.config.ts");
const PUBLIC = join(import.meta.dirname, "public");
const STYLES = join(import.meta.dirname, "styles");

/** Digests of the files of a build by their path. */
type Sources = Record<string, string>;

function digest(paths: Iterable<string>): Sources {
  const entries = [...new Set(paths)].map((path) => {
    const text = readFileSync(join(ROOT, path));
    return [path, createHash("sha256").update(text).digest("hex")];
  });
  return Object.fromEntries(entries) as Sources;
}

const RECORD = join(ROOT, "dist/.page-sources.json");

function isUnchanged(): boolean {
  try {
    readFileSync(join(ROOT, "dist/page/index.html"));
    const before = readFileSync(RECORD, "utf8");
    return JSON.stringify(digest(Object.keys(JSON.parse(before) as Sources))) === before;
  } catch {
    return false; // never built, or a file is gone
  }
}

if (!isUnchanged()) {
  const { build } = await import("vite");
  // What a style sheet imports is no module of the build.
  const beside = [PUBLIC, STYLES].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const read = ["package-lock.json", CONFIG, ...beside];
  const recordSources = {
    name: "record-sources",
    generateBundle(this: { getModuleIds(): Iterable<string> }): void {
      const ids = [...this.getModuleIds()].map((id) => id.replace(/\?.*$/, ""));
      read.push(...ids.filter((id) => id.startsWith(`${ROOT}/src/`)));
    },
  };
  await build({ configFile: CONFIG, logLevel: "warn", plugins: [recordSources] });
  writeFileSync(RECORD, JSON.stringify(digest(read.map((path) => relative(ROOT, resolve(ROOT, path))))));
}
