import { join } from "node:path";
import type { BrokenFile } from "./capture-files.js";
import { byTime, loadFolder } from "./load-folder.js";
import type { CaptureShelf } from "./select-captures.js";

/** The captures of a folder as they were when it was read. */
export interface ReadFolder extends CaptureShelf {
  /** Files that hold no capture. */
  readonly broken: readonly BrokenFile[];
}

/**
 * Reads the folder `captures` in `path` for whoever only looks: nothing is made or changed, so that being allowed to read is
 * enough. Throws `invalid_argument` when the folder is not there.
 */
export function readCaptureFolder(path: string): ReadFolder {
  const { captures, broken } = loadFolder(join(path, "captures"));
  const newestFirst = [...captures.values()].toSorted(byTime).toReversed();
  return { broken, list: () => newestFirst, get: (id) => captures.get(id) };
}
