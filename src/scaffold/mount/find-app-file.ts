import { readFileSync, statSync } from "node:fs";
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
    throw new PigeonholeError("invalid_argument", `${file} ${why}; name the app's folder.`, {
      cause: error,
    });
  }
}

const FOLDERS = ["src/", ""];
const NAMES = ["app", "server", "index", "main"];
const ENDINGS = ["ts", "mts", "js", "mjs", "cjs"];
/** Where express-generator has the file that lets the app listen. */
const SERVERS = ["bin/www", ...ENDINGS.map((end) => `bin/www.${end}`)];

/**
 * The files of the folder that may create the Express app, most likely first: what package.json's scripts and `main`
 * run, then the usual names. For a built file the source is listed.
 */
export function findAppFiles(folder: string, { main, scripts }: AppPackage): string[] {
  const commands = [scripts?.["dev"], scripts?.["start"]].filter((script) => script !== undefined);
  const words = commands.flatMap((command) => command.split(/\s+/));
  const run = words.filter((word) => /\.[cm]?[jt]s$|^[\w./-]*\/\w+$/.test(word));
  const named = [...run, ...(main === undefined ? [] : [main])]
    .map((path) => path.replace(/^\.\//, ""))
    .flatMap((path) => [...sourcesOf(path), path]);
  const usual = FOLDERS.flatMap((path) => NAMES.flatMap((name) => ENDINGS.map((end) => `${path}${name}.${end}`)));
  const paths = [...new Set([...named, ...usual, ...SERVERS])];
  return paths.filter((path) => !/^(?:\.\.|node_modules)\//.test(path) && isFile(join(folder, path)));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** `dist/server.js` is built from `src/server.ts`. */
function sourcesOf(path: string): string[] {
  const inside = /^(?:dist|build|out|lib)\/(.*)\.[cm]?js$/.exec(path)?.[1];
  return inside === undefined ? [] : [`src/${inside}.ts`, `src/${inside}.mts`];
}
