import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { maskComments } from "./mask-code.js";

/** A file of the app, with its path in the app's folder. */
export interface SourceFile {
  path: string;
  text: string;
}

/** What code that verifies signatures of the service must name. */
const SIGNATURE_HEADER = /\bx-svc-signature\b/i;
/** A route that takes a POST. */
const ROUTE = /\.(?:post|all|use)\(\s*(["'`])([^"'`\n]*)\1/g;

/**
 * What to do with a route of the app that takes the service's deliveries. `files` are searched first, then every source
 * file of the folder; comments are no code.
 */
export function findOwnRoute(folder: string, files: readonly SourceFile[]): string | undefined {
  const known = new Set(files.map(({ path }) => path));
  const all = [...files, ...readSources(folder).filter(({ path }) => !known.has(path))].map(({ path, text }) => ({
    path,
    text: maskComments(text) ?? text,
  }));
  const replaced = all.find(({ text }) => [...text.matchAll(ROUTE)].some(([, , at]) => at === DEFAULT_ENDPOINT_PATH));
  if (replaced !== undefined) {
    return `${replaced.path} has a route at ${DEFAULT_ENDPOINT_PATH} already, and Express calls only the one that stands first: move what that route does into handlers, and remove it`;
  }
  const verifying = all.find(({ text }) => SIGNATURE_HEADER.test(text));
  if (verifying === undefined) return undefined;
  return `${verifying.path} reads the service's signatures: move what its route does into handlers, point the endpoint at ${DEFAULT_ENDPOINT_PATH}, and remove the route`;
}

/** Not the app's own code, or no code that serves. */
const OTHER_FOLDERS = new Set(["node_modules", "dist", "build", "out", "coverage", "public", "test", "tests"]);
const SOURCE = /(?<!\.(?:test|spec|d|min))\.[cm]?[jt]s$/;
const MAX_FILES = 2_000;
const MAX_BYTES = 512 * 1024;

/** The app's source files. What cannot be read is left out: it says nothing about routes. */
function readSources(folder: string): SourceFile[] {
  const paths: string[] = [];
  const folders = [""];
  for (let at = folders.shift(); at !== undefined && paths.length < MAX_FILES; at = folders.shift()) {
    for (const entry of ifReadable(() => readdirSync(join(folder, at), { withFileTypes: true })) ?? []) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && !isOther(entry.name)) folders.push(path);
      else if (entry.isFile() && SOURCE.test(entry.name)) paths.push(path);
    }
  }
  return paths.slice(0, MAX_FILES).flatMap((path) => ifReadable(() => readSource(folder, path)) ?? []);
}

function readSource(folder: string, path: string): SourceFile[] {
  const file = join(folder, path);
  return statSync(file).size <= MAX_BYTES ? [{ path, text: readFileSync(file, "utf8") }] : [];
}

function ifReadable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function isOther(name: string): boolean {
  return /^[._]/.test(name) || OTHER_FOLDERS.has(name);
}
