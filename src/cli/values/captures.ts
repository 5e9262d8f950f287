import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DAY } from "../../base/duration.js";
import type { BrokenFile } from "../../capture/capture-files.js";
import { type CaptureFolder, openCaptureFolder } from "../../capture/capture-folder.js";
import { readCaptureFolder } from "../../capture/read-capture-folder.js";
import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../../capture/capture.js";
import { type CaptureShelf, selectCaptures } from "../../capture/select-captures.js";
import { escapeControls } from "../../base/escape-controls.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import type { Output } from "../frame/output.js";

/** Nothing is thrown away by looking; the limits are the dev server's. */
const KEEP_ALL = { max: 10_000_000, keepMs: 36_500 * DAY };

/** What the system says of a folder that belongs to somebody else. */
const FORBIDDEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

const WHERE_FROM = "pigeonhole dev writes them, pigeonhole captures import reads them in.";

/** The captures on disk to be changed, making the folder; says which files are none. */
export function openCaptures(store: string, { cwd, out }: CommandContext): CaptureFolder {
  const folder = openCaptureFolder(resolve(cwd, store), KEEP_ALL);
  nameBroken(folder.broken, out);
  return folder;
}

/** As {@link openCaptures}, but a folder that is not there is not made: an error names it. */
export function openExistingCaptures(store: string, context: CommandContext): CaptureFolder {
  checkThere(store, context);
  return openCaptures(store, context);
}

/** The captures on disk to be looked at, which takes no more than leave to read; where there is no folder an error names it. */
export function readExistingCaptures(store: string, context: CommandContext): CaptureShelf {
  checkThere(store, context);
  return readShelf(store, context);
}

/** As {@link readExistingCaptures}, for commands that also take paths of files: empty where there is no folder. */
export function readShelf(store: string, context: CommandContext): CaptureShelf {
  if (!isThere(store, context)) return { list: () => [], get: () => undefined };
  const folder = readCaptureFolder(resolve(context.cwd, store));
  nameBroken(folder.broken, context.out);
  return folder;
}

/** As {@link openCaptures}; undefined where there is no folder, and, with a remark, where this user may only read it. */
export function openCapturesIfAllowed(store: string, context: CommandContext): CaptureFolder | undefined {
  if (!isThere(store, context)) return undefined;
  try {
    return openCaptures(store, context);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && FORBIDDEN.has(String(error.code)))) throw error;
    context.out.note(`${resolve(context.cwd, store)} may not be changed by this user, so attempts are not kept there.`);
    return undefined;
  }
}

function isThere(store: string, { cwd }: CommandContext): boolean {
  return existsSync(resolve(cwd, store, "captures"));
}

function checkThere(store: string, context: CommandContext): void {
  if (isThere(store, context)) return;
  throw usageError(`--store: there are no captures in ${resolve(context.cwd, store)}. ${WHERE_FROM}`);
}

function nameBroken(broken: readonly BrokenFile[], out: Output): void {
  for (const { file, reason } of broken) out.note(`${escapeControls(file)} was left out. ${escapeControls(reason)}`);
}

export interface Selection {
  shelf: CaptureShelf;
  words: readonly string[];
  /** `--store`, for the error. */
  store: string;
}

/** As `selectCaptures`, but `all` of nothing is an error too, as every other word that picks none. */
export function pickCaptures({ shelf, words, store }: Selection, { cwd }: CommandContext): Capture[] {
  const picked = selectCaptures(shelf, words);
  if (picked.length > 0) return picked;
  throw new PigeonholeError("no_capture", `There are no captures in ${resolve(cwd, store)} yet. ${WHERE_FROM}`);
}
