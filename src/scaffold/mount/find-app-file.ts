import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PigeonholeError } from "../../base/error.js";

/** The fields of an app's package.json that are used here. */
export interface AppPackage {
  type?: string;
  main?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Reads the package.json of an app's folder. Throws `invalid_argument` when there is none. */
export function readAppPackage(folder: string): AppPackage {
  const file = join(folder, "package.json");
  try {
    return JSON.parse(readFileSync(file, "utf8")) as AppPackage;
  } catch (error) {
    const why = error instanceof SyntaxError ? "is not valid JSON" : "cannot be read";
    throw new PigeonholeError("invalid_argument", `${file} ${why}; name the folder of an Express app.`, {
      cause: error,
    });
  }
}

const FOLDERS = ["src/", ""];
const NAMES = ["app", "server", "index", "main"];
const ENDINGS = ["ts", "mts", "js", "mjs", "cjs"];

/**
 * The files of the folder that may create the Express app, most likely first: what package.json's scripts and `main`
 * run, then the usual names. For a built file the source is listed.
 */
export function findAppFiles(folder: string, { main, scripts }: AppPackage): string[] {
  const commands = [scripts?.["dev"], scripts?.["start"]].filter((script) => script !== undefined);
  const run = commands.flatMap((command) => command.split(/\s+/)).filter((word) => /\.[cm]?[jt]s$/.test(word));
  const named = [...run, ...(main === undefined ? [] : [main])]
    .map((path) => path.replace(/^\.\//, ""))
    .flatMap((path) => [...sourcesOf(path), path]);
  const usual = FOLDERS.flatMap((path) => NAMES.flatMap((name) => ENDINGS.map((end) => `${path}${name}.${end}`)));
  return [...new Set([...named, ...usual])].filter((path) => !path.startsWith("..") && existsSync(join(folder, path)));
}

/** `dist/server.js` is built from `src/server.ts`. */
function sourcesOf(path: string): string[] {
  const inside = /^(?:dist|build|out|lib)\/(.*)\.[cm]?js$/.exec(path)?.[1];
  return inside === undefined ? [] : [`src/${inside}.ts`, `src/${inside}.mts`];
}
