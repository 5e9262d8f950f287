import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { maskCode, maskComments } from "./mask-code.js";

/** A file of the app, with its path in the app's folder. */
export interface SourceFile {
  path: string;
  text: string;
}

/** A name in a string of code that verifies signatures of the service. */
const OF_SERVICE = /\bx-svc-signature\b/i;
/** Code that makes an HMAC, and names what webhooks have. */
const HMAC = /\bcreateHmac\(/;
const WORDS_OF_WEBHOOKS = new Set(["hook", "hooks", "webhook", "webhooks", "signature", "signatures"]);
/** A word of a name in camel case, or of one in capitals. */
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;
const ROUTE = /\.(?:post|all|use)\(\s*(["'`])([^"'`\n]*)\1/g;

/**
 * What to do with a route of the app that takes the service's deliveries, or may. `files` are searched first, then
 * every source file of the folder.
 */
export function findOwnRoute(folder: string, files: readonly SourceFile[]): string | undefined {
  const known = new Set(files.map(({ path }) => path));
  const all = [...files, ...readSources(folder).filter(({ path }) => !known.has(path))].map(readCode);
  const replaced = all.find(({ routes }) => routes.includes(DEFAULT_ENDPOINT_PATH));
  if (replaced !== undefined) return replacedHint(replaced.path);
  const verifying = all.find(({ text }) => OF_SERVICE.test(text)) ?? all.find(makesHmacOfWebhook);
  return verifying === undefined ? undefined : movedHint(verifying.path);
}

interface SourceCode extends SourceFile {
  /** The text without what is inside of strings, too. */
  code: string;
  /** Paths of routes that take a POST. */
  routes: string[];
}

/** Comments are no code. A text that cannot be read as code is searched as it is. */
function readCode({ path, text }: SourceFile): SourceCode {
  const commentless = maskComments(text) ?? text;
  const routes = [...commentless.matchAll(ROUTE)].map(([, , route = ""]) => route);
  return { path, text: commentless, code: maskCode(text) ?? text, routes };
}

function makesHmacOfWebhook({ code, routes }: SourceCode): boolean {
  const words = `${code} ${routes.join(" ")}`.match(WORD) ?? [];
  return HMAC.test(code) && words.some((word) => WORDS_OF_WEBHOOKS.has(word.toLowerCase()));
}

function movedHint(path: string): string {
  return `${path} may verify signatures of webhooks: if these are the service's, move what its route does into handlers, point the endpoint at ${DEFAULT_ENDPOINT_PATH}, and remove the route`;
}

function replacedHint(path: string): string {
  return `${path} has a route at ${DEFAULT_ENDPOINT_PATH} already, and Express calls only the one that stands first: move what that route does into handlers, and remove it`;
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
