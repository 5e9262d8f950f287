import { findListen, findListenLines, type ListenPlace } from "./find-listen.js";
import { maskCode } from "./mask-code.js";

/** How a file is written. */
export interface FileStyle {
  kind: "esm" | "cjs";
  quote: '"' | "'";
  semicolon: ";" | "";
  /** Line end of the file. */
  lineEnd: "\n" | "\r\n";
}

/** What must be known about an app's file to mount a receiver in it. Positions are offsets into its text. */
export interface ExpressApp extends FileStyle {
  /** Name of the app's variable. */
  name: string;
  /** White space before the lines of the app. */
  indent: string;
  /** Start of the line of the mount: at the first body parser, or after the app is created. */
  mountAt: number;
  /** True if something is mounted above, and so receives deliveries first. */
  isBehindOthers: boolean;
  /** Start of a line for an import. */
  importAt: number;
  /** Where the app, or a server made with it, listens; undefined if it does not, or if the place is not clear. */
  listen: ListenPlace | undefined;
  /** Numbers of all lines in which it listens. */
  listenLines: readonly number[];
}

/** Why a file is not changed, as text. */
export interface Unclear {
  kind: "unclear";
  reason: string;
}

/** Names that make body parsers, as members of express or body-parser. */
const PARSERS = ["json", "urlencoded", "text", "raw"] as const;

/** Finds the places in the text of an Express app's file. Anything unusual is `unclear`. */
export function readExpressApp(text: string): ExpressApp | Unclear {
  const code = maskCode(text);
  if (code === undefined) return unclear("it has a string or a comment that does not end");
  const factory = findFactory(text);
  if (factory === undefined) return unclear("it does not import express in a usual way");
  const { name: make, kind } = factory;
  const creations = [...code.matchAll(new RegExp(`(?<![\\w$.])${escapeName(make)}\\(\\s*\\)`, "g"))];
  if (creations.length !== 1) return unclear(`it calls ${make}() ${creations.length} times, not once`);
  const declaration = new RegExp(
    `^([ \\t]*)(?:export\\s+)?(?:const|let|var)\\s+([\\w$]+)(?:\\s*:\\s*[\\w.]+)?\\s*=\\s*${escapeName(make)}\\(\\s*\\)[ \\t]*(;?)[ \\t]*\\r?$`,
    "m",
  ).exec(code);
  if (declaration === null) return unclear(`${make}() is not a line of the form "const app = ${make}()"`);
  const [line, indent = "", name = "", semicolon] = declaration;
  const importAt = findImportEnd(code.slice(0, declaration.index), kind);
  if (importAt === undefined) return unclear("the place for an import is not clear");
  const afterApp = nextLine(code, declaration.index + line.length);
  const call = parserCall(text, make);
  const mountAt = findBodyParser(code, { name, indent, call, from: afterApp }) ?? afterApp;
  return {
    kind,
    name,
    indent,
    mountAt,
    isBehindOthers: new RegExp(`\\b${escapeName(name)}\\.(?:use|all)\\(`).test(code.slice(afterApp, mountAt)),
    importAt,
    listen: findListen(code, [name], afterApp),
    listenLines: findListenLines(code, [name], afterApp),
    quote: factory.quote,
    semicolon: semicolon === ";" ? ";" : "",
    lineEnd: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function unclear(reason: string): Unclear {
  return { kind: "unclear", reason };
}

interface Factory {
  name: string;
  kind: "esm" | "cjs";
  quote: '"' | "'";
}

const ESM_IMPORT = /^import\s+(?:\*\s+as\s+)?([\w$]+)\s*(?:,\s*\{[^}]*\}\s*)?from\s*(["'])express\2/m;
const CJS_IMPORT = /^(?:const|let|var|import)\s+([\w$]+)\s*=\s*require\(\s*(["'])express\2\s*\)/m;

/** The name of express in the file. */
function findFactory(text: string): Factory | undefined {
  for (const [kind, pattern] of [
    ["esm", ESM_IMPORT],
    ["cjs", CJS_IMPORT],
  ] as const) {
    const found = pattern.exec(text);
    if (found?.[1] !== undefined) return { name: found[1], kind, quote: found[2] === "'" ? "'" : '"' };
  }
  return undefined;
}

/**
 * The line after the last import; of CommonJS after the last `require` in the run of lines that begins with the first.
 */
export function findImportEnd(code: string, kind: "esm" | "cjs"): number | undefined {
  const pattern =
    kind === "esm"
      ? /^import\b(?:[^;"'(]*?\bfrom)?\s*(?:"[^"\n]*"|'[^'\n]*')(?:\s*with\s*\{[^}]*\})?[ \t]*;?/gm
      : /^(?:const|let|var|import)\s+(?:[\w$]+|\{[^}]*\})\s*=\s*require\([^)\n]*\)(?:\.[\w$]+)?[ \t]*;?[ \t]*\r?$/gm;
  const last = [...code.matchAll(pattern)].at(-1);
  return last === undefined ? undefined : nextLine(code, last.index + last[0].length);
}

interface AppPlace {
  name: string;
  indent: string;
  /** Finds a call that makes a body parser. */
  call: RegExp;
  from: number;
}

/**
 * Where the first body parser is, if it is a statement at the level of the app's creation. One inside a block or in
 * another form is not found: then the mount is placed right after the creation of the app, which is above it anyway.
 */
function findBodyParser(code: string, { name, indent, call, from }: AppPlace): number | undefined {
  const first = code.slice(from).search(call);
  if (first === -1) return undefined;
  const uses = code.slice(from).matchAll(new RegExp(`^${indent}${escapeName(name)}\\.use\\(`, "gm"));
  for (const use of uses) {
    const end = closingParen(code, from + use.index + use[0].length);
    if (end === undefined) return undefined;
    if (use.index > first) return undefined;
    const at = from + use.index;
    if (first < end - from) return leavesBlock(code.slice(from, at)) ? undefined : at;
  }
  return undefined;
}

/** Finds calls such as `express.json(`, `bodyParser.urlencoded(`, `bodyParser(`, or of a parser imported by name. */
function parserCall(text: string, make: string): RegExp {
  const library =
    /^(?:import\s+(?:\*\s+as\s+)?|(?:const|let|var)\s+)([\w$]+)\s*(?:from\s*|=\s*require\(\s*)["']body-parser["']/m;
  const bodyParser = library.exec(text)?.[1];
  const owners = [make, ...(bodyParser === undefined ? [] : [bodyParser])].map(escapeName);
  const named = [...text.matchAll(/\{([^{}]*)\}\s*(?:from\s*|=\s*require\(\s*)(["'])(?:express|body-parser)\2/g)]
    .flatMap(([, list = ""]) => list.split(","))
    .map((part) => /^\s*([\w$]+)(?:\s*(?:as\b|:)\s*([\w$]+))?\s*$/.exec(part) ?? [])
    .filter(([, member]) => PARSERS.some((parser) => parser === member))
    .map(([, member = "", local = member]) => escapeName(local));
  const alone = [...named, ...owners.slice(1)].map((word) => `(?<![\\w$.])${word}\\(`);
  return new RegExp([`(?<![\\w$.])(?:${owners.join("|")})\\.(?:${PARSERS.join("|")})\\(`, ...alone].join("|"));
}

/** True if this code ends a block that it does not begin: what follows belongs to another function. */
function leavesBlock(code: string): boolean {
  let depth = 0;
  for (const letter of code) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    if (depth < 0) return true;
  }
  return false;
}

/** The offset after the parenthesis that closes the one before `from`. */
function closingParen(code: string, from: number): number | undefined {
  let depth = 1;
  for (let index = from; index < code.length; index += 1) {
    if (code[index] === "(") depth += 1;
    if (code[index] === ")") depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

function nextLine(code: string, from: number): number {
  const end = code.indexOf("\n", from);
  return end === -1 ? code.length : end + 1;
}

function escapeName(name: string): string {
  return name.replaceAll("$", String.raw`\$`);
}
