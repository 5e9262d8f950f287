import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { createTwoFilesPatch } from "diff";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import type { EventType } from "../../protocol/event-types.js";
import { type AppPackage, findAppFiles, readAppPackage } from "./find-app-file.js";
import { findOwnRoute, type SourceFile } from "./find-own-route.js";
import { EXPRESS, appHostOf } from "./app-host.js";
import type { ListenPlace } from "./find-listen.js";
import { type ExpressApp, type FileStyle, readExpressApp } from "./read-express-app.js";
import { type ServerFile, readServerFile } from "./read-server-file.js";
import { pasteText, RECEIVER_NAME, receiverFile, START_HINT, STOP_HINT } from "./receiver-file.js";
import type { FileChange } from "./write-mount.js";
import { makeSecret } from "../../protocol/secret.js";

export interface MountOptions {
  /** Absolute path of the app's folder. */
  folder: string;
  /** Event types that get a handler in the new file. */
  events: readonly EventType[];
}

/** The plan for adding a receiver. */
export type MountPlan =
  /** `diff`: a unified diff. `notice`: what to know before it is written. `next`: the steps left to do by hand. */
  | {
      kind: "ready";
      app: string;
      changes: readonly FileChange[];
      diff: string;
      notice: string | undefined;
      next: readonly string[];
    }
  /** The app's file mounts a receiver already. */
  | { kind: "present"; app: string }
  /** Nothing is changed. `paste`: what to add by hand, to `app` if the file is known. */
  | { kind: "unclear"; app: string | undefined; reason: string; paste: string };

const ABOVE_HINT =
  "check the code above the mount: a login check, a CSRF guard or a redirect there would refuse deliveries";
const PRESENT = new RegExp(String.raw`["']pigeonhole["']|\b${RECEIVER_NAME}\.(?:middleware|listener|fetch)\(`);

/** Finds the app and plans the mount; writes nothing. Throws `invalid_argument` for a folder without package.json. */
export function planMount({ folder, events }: MountOptions): MountPlan {
  const appPackage = readAppPackage(folder);
  const files = findAppFiles(folder, appPackage).map((path) => ({
    path,
    text: readFileSync(join(folder, path), "utf8"),
  }));
  const present = files.find(({ text }) => PRESENT.test(text));
  if (present !== undefined) return { kind: "present", app: present.path };
  const found = files.find(({ text }) => /["']express["']/.test(text));
  const known = appHostOf(appPackage);
  const host = found === undefined || known.name === "NestJS" ? known : EXPRESS;
  if (found === undefined || host !== EXPRESS) {
    const paste = pasteText({ kind: appPackage.type === "module" ? "esm" : "cjs", events, folder, host });
    const reason =
      host === EXPRESS
        ? "no file that makes an Express app was found"
        : host.dependency === undefined
          ? "its package.json has no framework that add knows, and add edits Express apps only"
          : `this is an app of ${host.name}, and add edits Express apps only`;
    return { kind: "unclear", app: undefined, reason, paste };
  }
  const app = readExpressApp(found.text);
  if (app.kind === "unclear") {
    const kind = /^import\s/m.test(found.text) ? "esm" : "cjs";
    return { kind: "unclear", app: found.path, reason: app.reason, paste: pasteText({ kind, events, folder, host }) };
  }
  const receiver = planReceiver(folder, found.path, app, events);
  if (receiver === "foreign") {
    const reason = `there is a file webhooks/receiver beside it that does not export ${RECEIVER_NAME}`;
    const paste = pasteText({ kind: app.kind, events, folder, host, file: "webhooks/mail-receiver" });
    return { kind: "unclear", app: found.path, reason, paste };
  }
  const server = app.listen === undefined ? findServer(files, found.path) : undefined;
  const after = mountIn({ ...found, isModule: isModule(found.path, appPackage) }, app);
  const changes = [
    ...(server === undefined ? [] : [startIn(server, receiverPath(found.path), appPackage)]),
    ...receiver,
    ...planLocalFiles(folder),
    { path: found.path, before: found.text, after },
  ];
  const notice = findOwnRoute(folder, files);
  const startHint = app.listen === undefined && server === undefined ? startHintOf(found.path, app) : undefined;
  const hints = [app.isBehindOthers ? ABOVE_HINT : [], startHint ?? [], STOP_HINT, notice ?? []].flat();
  const next = nextOf(appPackage, hints);
  return { kind: "ready", app: found.path, changes, diff: diffOf(changes), notice, next };
}

/** Whether Node runs a file as an ES module; TypeScript's `import` lines do not decide that. */
function isModule(path: string, { type }: AppPackage): boolean {
  return /\.m[jt]s$/.test(path) || (type === "module" && !/\.c[jt]s$/.test(path));
}

interface Server {
  path: string;
  text: string;
  places: ServerFile;
}

/** The file that lets the app of another one listen. */
function findServer(files: readonly SourceFile[], app: string): Server | undefined {
  for (const { path, text } of files) {
    const places = path === app ? undefined : readServerFile(text, importPath(path, app));
    if (places !== undefined) return { path, text, places };
  }
  return undefined;
}

/** How one file names another, without its extension: `../app`. */
function importPath(from: string, to: string): string {
  const path = posix.relative(dirname(from), to.slice(0, to.length - extname(to).length));
  return path.startsWith(".") ? path : `./${path}`;
}

/** The receiver is started before the app listens. */
function startIn({ path, text, places }: Server, receiver: string, appPackage: AppPackage): FileChange {
  const insertions = [
    { at: places.importAt, lines: [importLine({ path, text, receiver }, places)] },
    { at: places.listen.at, lines: [startLine(isModule(path, appPackage), places, places.listen)] },
  ];
  return { path, before: text, after: insertLines(text, places.lineEnd, insertions) };
}

/** The new file; none if it already exists, or `foreign` if another file has its name. */
function planReceiver(
  folder: string,
  appPath: string,
  app: ExpressApp,
  events: readonly EventType[],
): FileChange[] | "foreign" {
  const path = receiverPath(appPath);
  if (!existsSync(join(folder, path)))
    return [{ path, before: undefined, after: receiverFile({ ...app, kind: spelling(app, path), events }) }];
  return readFileSync(join(folder, path), "utf8").includes(RECEIVER_NAME) ? [] : "foreign";
}

function receiverPath(app: string): string {
  return join(dirname(app), `webhooks/receiver${extname(app)}`);
}

/** TypeScript's `import x = require()` is used with module syntax. */
function spelling({ kind }: ExpressApp, path: string): "esm" | "cjs" {
  return /\.[cm]?ts$/.test(path) ? "esm" : kind;
}

interface AppFile {
  path: string;
  text: string;
  /** Whether Node runs it as an ES module. */
  isModule: boolean;
}

/** The app's text with the import, the mount, and the start if its place is clear. */
function mountIn({ path, text, isModule }: AppFile, app: ExpressApp): string {
  const { indent, name, quote, semicolon, lineEnd } = app;
  const insertions = [
    { at: app.importAt, lines: [importLine({ path, text, receiver: receiverPath(path) }, app)] },
    {
      at: app.mountAt,
      lines: [
        `${indent}// Before every body parser: the signature covers the raw bytes.`,
        `${indent}${name}.post(${quote}${DEFAULT_ENDPOINT_PATH}${quote}, ${RECEIVER_NAME}.middleware())${semicolon}`,
      ],
    },
    ...(app.listen === undefined ? [] : [{ at: app.listen.at, lines: [startLine(isModule, app, app.listen)] }]),
  ];
  return insertLines(text, lineEnd, insertions);
}

/** Only a module can wait for sure. Without that, a delivery that arrives meanwhile waits for the start. */
function startLine(isModule: boolean, { semicolon }: FileStyle, { indent }: ListenPlace): string {
  const mayAwait = indent === "" && isModule;
  return `${indent}${mayAwait ? "await" : "void"} ${RECEIVER_NAME}.start()${semicolon}`;
}

/** What to write where the app listens, which is not clear. */
function startHintOf(path: string, app: ExpressApp): string {
  const [line] = app.listenLines;
  if (line !== undefined) return `${START_HINT}. It listens in ${path}:${line + LINES_ADDED_ABOVE}`;
  return `${START_HINT}. In the file that calls listen(), import ${RECEIVER_NAME} from ${receiverPath(path)} first`;
}

/** The import, and the mount with its comment. */
const LINES_ADDED_ABOVE = 3;

function insertLines(text: string, lineEnd: string, insertions: readonly { at: number; lines: string[] }[]): string {
  // Insert from the end, so that offsets stay valid. Of two at one place, the first is written first.
  return insertions
    .toReversed()
    .toSorted((a, b) => b.at - a.at)
    .reduce((result, { at, lines }) => {
      const before = result.slice(0, at);
      const gap = before === "" || before.endsWith("\n") ? "" : lineEnd;
      return `${before}${gap}${lines.join(lineEnd)}${lineEnd}${result.slice(at)}`;
    }, text);
}

/** In the spelling of the file's other imports. */
function importLine(
  { path, text, receiver }: SourceFile & { receiver: string },
  { kind, quote, semicolon }: FileStyle,
): string {
  const isBare = /(?:from|require\()\s*["']\.{1,2}\/(?:[^"'\n]*\/)?[^"'./\n]+["']/.test(text);
  const ending = isBare ? "" : extname(receiver).replace("ts", "js");
  const from = `${quote}${importPath(path, receiver)}${ending}${quote}`;
  const line =
    kind === "esm" || path.endsWith("ts")
      ? `import { ${RECEIVER_NAME} } from ${from}`
      : `const { ${RECEIVER_NAME} } = require(${from})`;
  return `${line}${semicolon}`;
}

function diffOf(changes: readonly FileChange[]): string {
  return changes
    .map(({ path, before, after }) => {
      const old = before === undefined ? "/dev/null" : `a/${path}`;
      const [from, to] = [before ?? "", after].map((text) => (path === ".env" ? withoutValues(text) : text));
      return createTwoFilesPatch(old, `b/${path}`, from ?? "", to ?? "", "", "", { context: 2 });
    })
    .map((patch) => patch.replace(/^=+\n/, ""))
    .join("");
}

/** The steps left to do, with these among them. */
function nextOf(appPackage: AppPackage, hints: readonly string[]): string[] {
  const installed = { ...appPackage.devDependencies, ...appPackage.dependencies };
  const missing = [
    ...(installed["pigeonhole"] === undefined ? ["pigeonhole"] : []),
    ...(/^\D*4\b/.test(installed["zod"] ?? "") ? [] : ["zod@4"]),
  ];
  return [
    ...(missing.length === 0 ? [] : [`npm install ${missing.join(" ")}`]),
    ".env has a WEBHOOK_SECRET for this machine: start the app with node --env-file=.env. In production it is the endpoint's, the whole string with whsec_",
    ...hints,
    `try it: ${tryCommand(appPackage)}`,
  ];
}

function tryCommand({ scripts }: AppPackage): string {
  if (scripts?.["start"] !== undefined) {
    return 'npx pigeonhole dev --start "npm start" --with-sandbox, and fire an event on its page';
  }
  return "npx pigeonhole dev --forward-to 3000, the app's port, and npx pigeonhole trigger email.received in a second terminal, with WEBHOOK_SECRET in .env";
}

/** Secrets, captures of `dev`, and the database with its `-wal`, `-shm` and `-owner` files. */
const IGNORED = [".env", ".pigeonhole/", "pigeonhole.db*"];

/** What an app needs on this machine alone: a secret in `.env`, and lines that keep its files out of git. */
function planLocalFiles(folder: string): FileChange[] {
  return [
    ...addLines(folder, ".gitignore", (text) => IGNORED.filter((line) => !text.split(/\s+/).includes(line))),
    ...addLines(folder, ".env", (text) =>
      /^(?:export )?WEBHOOK_SECRET *= *\S/m.test(text) ? [] : [`WEBHOOK_SECRET=${makeSecret()}`],
    ),
  ];
}

/** The text of `.env` as it may be shown. */
function withoutValues(text: string): string {
  return text.replaceAll(/(?<=^WEBHOOK_SECRET=).*|^(?!WEBHOOK_SECRET=).+/gm, "…");
}

function addLines(folder: string, path: string, missing: (text: string) => string[]): FileChange[] {
  const file = join(folder, path);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const lines = missing(before ?? "");
  const gap = before === undefined || /(?:^|\n)$/.test(before) ? "" : "\n";
  return lines.length === 0 ? [] : [{ path, before, after: `${before ?? ""}${gap}${lines.join("\n")}\n` }];
}
