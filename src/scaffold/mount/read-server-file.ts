import { maskCode } from "./mask-code.js";
import { findListen, type ListenPlace } from "./find-listen.js";
import { type FileStyle, findImportEnd } from "./read-express-app.js";

/** What must be known about the file that lets an app listen which another file makes, or makes in a function. */
export interface ServerFile extends FileStyle {
  /** Start of a line for an import. */
  importAt: number;
  /** Where the app, or a server made with it, listens. */
  listen: ListenPlace;
}

/**
 * Finds the places in the text of a file that imports the app, or the function that makes it, from `appPath`, such as
 * `./app`, and lets it listen; undefined for anything else, and for what is unusual.
 */
export function readServerFile(text: string, appPath: string): ServerFile | undefined {
  const code = maskCode(text);
  const found = findAppImport(text, appPath);
  if (code === undefined || found === undefined) return undefined;
  const { names, kind, quote } = found;
  const listen = findListen(code, names, 0);
  if (listen === undefined) return undefined;
  const importAt = findImportEnd(code.slice(0, listen.at), kind);
  if (importAt === undefined) return undefined;
  const isTerminated = /;[ \t]*\r?\n$/.test(code.slice(0, importAt));
  return { kind, importAt, listen, quote, semicolon: isTerminated ? ";" : "", lineEnd: lineEndOf(text) };
}

/** The names under which the file has what the app's file exports. */
function findAppImport(
  text: string,
  appPath: string,
): (Pick<FileStyle, "kind" | "quote"> & { names: string[] }) | undefined {
  const from = String.raw`(["'])${appPath.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}(?:\.[cm]?[jt]s)?`;
  const patterns = [
    ["esm", new RegExp(String.raw`^import\s+([\w$]+|\{[^}]*\})\s*from\s*${from}\2`, "m")],
    [
      "cjs",
      new RegExp(String.raw`^(?:const|let|var|import)\s+([\w$]+|\{[^}]*\})\s*=\s*require\(\s*${from}\2\s*\)`, "m"),
    ],
  ] as const;
  for (const [kind, pattern] of patterns) {
    const [, names, quote] = pattern.exec(text) ?? [];
    if (names === undefined) continue;
    const words = names.replaceAll(/[{}]/g, "").split(",");
    // Of `app as server` and `app: server` the second is the name in this file.
    const local = words.map(
      (word) =>
        word
          .trim()
          .split(/\s+as\s+|\s*:\s*/)
          .at(-1) ?? "",
    );
    return { kind, names: local.filter((name) => name !== ""), quote: quote === "'" ? "'" : '"' };
  }
  return undefined;
}

function lineEndOf(text: string): FileStyle["lineEnd"] {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
