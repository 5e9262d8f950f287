import { chmodSync, lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Capture } from "../model/capture.js";
import { bodySize } from "../model/captured-body.js";
import { type BrokenFile, listCaptureFiles, readCaptureFiles, removeLeftovers } from "./capture-files.js";
import { captureFolderIn, makePrivateFolder, narrowModes } from "./private-folder.js";

/** The folder `captures` in `path`. It is created if it is missing, private to this user and ignored by git. */
export function makeFolder(path: string): string {
  const folder = captureFolderIn(path);
  makePrivateFolder(path);
  const ignore = join(path, ".gitignore");
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeFileSync(ignore, "*\n");
  makePrivateFolder(folder);
  chmodSync(folder, 0o700);
  removeLeftovers(folder, Date.now());
  return folder;
}

/** The contents of a folder when it is opened. */
export interface Loaded {
  captures: Map<string, Capture>;
  fileOf: Map<string, string>;
  /** The state of each file as last read or written by this process. */
  stamps: Map<string, string | undefined>;
  broken: BrokenFile[];
}

/**
 * Reads all captures of a folder; if two files hold one capture, the first by name is used. Makes the folder and the
 * files private, which may have been copied or restored with wider modes.
 */
export function loadFolder(folder: string): Loaded {
  narrowModes([folder, ...listCaptureFiles(folder)]);
  const { files, broken } = readCaptureFiles(folder);
  const loaded: Loaded = { captures: new Map(), fileOf: new Map(), stamps: new Map(), broken };
  const { captures, fileOf, stamps } = loaded;
  for (const { file, stamp, capture } of files) {
    const first = fileOf.get(capture.id);
    if (first === undefined) {
      captures.set(capture.id, capture);
      fileOf.set(capture.id, file);
      stamps.set(file, stamp);
    } else broken.push({ file, reason: `The capture "${capture.id}" is already in ${first}.` });
  }
  return loaded;
}

/** Earlier first; by id within a millisecond. */
export function byTime(a: Capture, b: Capture): number {
  return Date.parse(a.receivedAt) - Date.parse(b.receivedAt) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Puts a capture into a list, oldest first, in place of its earlier version. */
export function insertByTime(order: Capture[], capture: Capture, old: Capture | undefined): void {
  if (old !== undefined) order.splice(order.indexOf(old), 1);
  // It is nearly always the newest, so search from the end.
  let at = order.length;
  for (let before = order[at - 1]; before !== undefined && byTime(before, capture) > 0; before = order[at - 1]) at -= 1;
  order.splice(at, 0, capture);
}

/** The source of captures; a `CaptureFolder` fits. */
export interface CaptureReader {
  /** Newest first. */
  list(): readonly Capture[];
  get(id: string): Capture | undefined;
}

/** The captures of a folder at the time it was read. */
interface ReadFolder extends CaptureReader {
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

/** Around its bodies a capture takes about so much, mostly for headers. */
const REST_BYTES = 4 * 1024;

/** What a capture takes in memory and on disk, in bytes. */
export function bytesOf({ request, attempts }: Capture): number {
  const bodies = [request.body, ...attempts.flatMap(({ body, sentBody }) => [body, sentBody])];
  return bodies.reduce((sum, body) => sum + (body === null ? 0 : bodySize(body)), REST_BYTES);
}
