import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DAY } from "../../base/duration.js";
import type { BrokenFile } from "../../capture/folder/capture-files.js";
import { type CaptureFolder, openCaptureFolder } from "../../capture/folder/capture-folder.js";
import { type CaptureReader, readCaptureFolder } from "../../capture/folder/load-folder.js";
import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../../capture/model/capture.js";
import { selectCaptures } from "../../capture/query/select-captures.js";
import { escapeControls } from "../../base/text.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { CAPTURE_STORE } from "./options.js";

/** Reading deletes nothing: only the dev server applies limits. */
const KEEP_ALL = { max: 10_000_000, maxBytes: Number.MAX_SAFE_INTEGER, keepMs: 36_500 * DAY };

/** Error codes for a folder of another user. */
const FORBIDDEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

const WHERE_FROM = "pigeonhole dev writes them; a file or a folder of them is given by its path.";

/** Reads the captures, which needs only permission to read. A missing folder is an error. */
export function readExistingCaptures(context: CommandContext): CaptureReader {
  if (hasCaptures(context)) return readCaptures(context);
  throw usageError(`There are no captures in ${resolve(context.cwd, CAPTURE_STORE)}. ${WHERE_FROM}`);
}

/** Like {@link readExistingCaptures}, for commands that also accept paths of files: empty if there is no folder. */
export function readCaptures(context: CommandContext): CaptureReader {
  if (!hasCaptures(context)) return { list: () => [], get: () => undefined };
  const folder = readCaptureFolder(resolve(context.cwd, CAPTURE_STORE));
  nameBroken(folder.broken, context.out);
  return folder;
}

/** The captures to change them; undefined if there is no folder, or, with a remark, if this user may only read it. */
export function openCapturesIfAllowed(context: CommandContext): CaptureFolder | undefined {
  try {
    if (!hasCaptures(context)) return undefined;
    const folder = openCaptureFolder(resolve(context.cwd, CAPTURE_STORE), KEEP_ALL);
    nameBroken(folder.broken, context.out);
    return folder;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && FORBIDDEN.has(String(error.code)))) throw error;
    context.out.note(
      `${resolve(context.cwd, CAPTURE_STORE)} may not be changed by this user, so attempts are not kept there.`,
    );
    return undefined;
  }
}

/** A folder that this user may not look into is there: reading it says what is wrong. */
export function hasCaptures({ cwd }: CommandContext): boolean {
  try {
    return statSync(resolve(cwd, CAPTURE_STORE, "captures"), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function nameBroken(broken: readonly BrokenFile[], out: Output): void {
  for (const { file, reason } of broken) out.note(`${escapeControls(file)} was skipped. ${escapeControls(reason)}`);
}

export interface Selection {
  reader: CaptureReader;
  words: readonly string[];
}

/** Like `selectCaptures`, but `all` without any capture is an error too. */
export function pickCaptures({ reader, words }: Selection, { cwd }: CommandContext): Capture[] {
  const picked = selectCaptures(reader, words, cwd);
  if (picked.length > 0) return picked;
  throw new PigeonholeError("no_capture", `There are no captures in ${resolve(cwd, CAPTURE_STORE)} yet. ${WHERE_FROM}`);
}
