import type { BrokenFile } from "./capture-files.js";
import { byTime, loadFolder } from "./load-folder.js";
import { captureFolderIn } from "./private-folder.js";
import type { Capture } from "../model/capture.js";

/** The source of captures; a `CaptureFolder` fits. */
export interface CaptureReader {
  /** Newest first. */
  list(): readonly Capture[];
  get(id: string): Capture | undefined;
}

/** The captures of a folder at the time it was read. */
export interface ReadFolder extends CaptureReader {
  /** Files that are not captures. */
  readonly broken: readonly BrokenFile[];
}

/**
 * Reads the folder `captures` in `path` without creating anything. Permission to read is enough; wider modes are made
 * private where this user may. Throws `invalid_argument` if the folder does not exist.
 */
export function readCaptureFolder(path: string): ReadFolder {
  const { captures, broken } = loadFolder(captureFolderIn(path));
  const newestFirst = [...captures.values()].toSorted(byTime).toReversed();
  return { broken, list: () => newestFirst, get: (id) => captures.get(id) };
}
