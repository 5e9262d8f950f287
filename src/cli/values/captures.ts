import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DAY } from "../../base/duration.js";
import { type CaptureFolder, openCaptureFolder } from "../../capture/capture-folder.js";
import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../../capture/capture.js";
import { type CaptureShelf, selectCaptures } from "../../capture/select-captures.js";
import { escapeControls } from "../../dev/escape-controls.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";

/** Nothing is thrown away by looking; the limits are the dev server's. */
const KEEP_ALL = { max: 10_000_000, keepMs: 36_500 * DAY };

const WHERE_FROM = "pigeonhole dev writes them, pigeonhole captures import reads them in.";

/** The captures on disk, making the folder; says which files are none. */
export function openCaptures(store: string, { cwd, out }: CommandContext): CaptureFolder {
  const folder = openCaptureFolder(resolve(cwd, store), KEEP_ALL);
  for (const { file, reason } of folder.broken)
    out.note(`${escapeControls(file)} was left out. ${escapeControls(reason)}`);
  return folder;
}

/** As {@link openCaptures}, but a folder that is not there is not made: an error names it. */
export function openExistingCaptures(store: string, context: CommandContext): CaptureFolder {
  const path = resolve(context.cwd, store);
  if (existsSync(resolve(path, "captures"))) return openCaptures(store, context);
  throw usageError(`--store: there are no captures in ${path}. ${WHERE_FROM}`);
}

/** A shelf for commands that also take paths of files: empty where there is no folder. */
export function openShelf(store: string, context: CommandContext): CaptureFolder | CaptureShelf {
  const isThere = existsSync(resolve(context.cwd, store, "captures"));
  return isThere ? openCaptures(store, context) : { list: () => [], get: () => undefined };
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
