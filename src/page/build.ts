import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

// Builds the page, unless all files that its last build read are as they were then, and none was added beside them.

const ROOT = resolve(import.meta.dirname, "../..");
const CONFIG = "src/page/vite.config.ts";

/** The paths, each with the digest of its file. */
function digest(paths: readonly string[]): [path: string, digest: string][] {
  const read = (path: string) => readFileSync(join(ROOT, path));
  return [...new Set(paths)].map((path) => [path, createHash("sha256").update(read(path)).digest("hex")]);
}

/** What a build reads that is no module of it, such as what a style sheet imports. */
function listBeside(): string[] {
  const files = ["src/page/public", "src/page/styles"].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => join(folder, name)),
  );
  return [CONFIG, "package-lock.json", ...files];
}

const RECORD = join(ROOT, "dist/.page-sources.json");

function isUnchanged(): boolean {
  try {
    readFileSync(join(ROOT, "dist/page/index.html"));
    const before = readFileSync(RECORD, "utf8");
    const modules = (JSON.parse(before) as [path: string][]).map(([path]) => path);
    return JSON.stringify(digest([...listBeside(), ...modules])) === before;
  } catch {
    return false; // never built, or a file is gone
  }
}

if (!isUnchanged()) {
  const { build } = await import("vite");
  const recordSources = {
    name: "record-sources",
    writeBundle(this: { getModuleIds(): Iterable<string> }): void {
      const modules = [...this.getModuleIds()].map((id) => relative(ROOT, id.replace(/\?.*$/, "")));
      const read = [...listBeside(), ...modules.filter((path) => path.startsWith("src/"))];
      writeFileSync(RECORD, JSON.stringify(digest(read)));
    },
  };
  await build({ configFile: join(ROOT, CONFIG), logLevel: "warn", plugins: [recordSources] });
}
