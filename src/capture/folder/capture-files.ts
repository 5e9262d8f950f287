import { lstatSync, readdirSync, readFileSync, rmSync, type Stats, statSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { MINUTE } from "../../base/duration.js";
import { isPigeonholeError, PigeonholeError } from "../../base/error.js";
import type { Capture, CapturedBody } from "../model/capture.js";
import { parseCapture } from "../model/parse-capture.js";
import { writePrivateFile } from "./private-folder.js";
import { bodySize } from "../model/captured-body.js";
import { findSubject } from "../model/summarize-capture.js";

/** A capture and its file. */
export interface CaptureFile {
  file: string;
  /** The result of {@link stampOf} before the file was read. */
  stamp: string;
  capture: Capture;
}

/** A file that is not a capture, and why. */
export interface BrokenFile {
  file: string;
  reason: string;
}

/** Much longer than a write, which takes milliseconds. */
const LEFTOVER_MS = MINUTE;

/**
 * Reads all `*.json` of a folder, by name, or one file. Files that cannot be read are listed in the result. Throws
 * `invalid_argument` when the path does not exist.
 */
export function readCaptureFiles(path: string): { files: CaptureFile[]; broken: BrokenFile[] } {
  const files: CaptureFile[] = [];
  const broken: BrokenFile[] = [];
  for (const file of listCaptureFiles(path)) {
    try {
      const found = file === path ? statSync(file) : lstatSync(file);
      // Reading a pipe waits without end, and a link leads anywhere.
      if (file !== path && !found.isFile()) throw new PigeonholeError("invalid_capture", "Not a regular file.");
      const stamp = writeStamp(found);
      files.push({ file, stamp, capture: shelved(file, parseCapture(JSON.parse(readFileSync(file, "utf8")))) });
    } catch (error) {
      broken.push({ file, reason: reasonOf(error) });
    }
  }
  return { files, broken };
}

/** Reads one file again. Rejects with `invalid_capture`; the message contains nothing of the file. */
export const readCaptureFile = async (file: string): Promise<Capture> => shelved(file, readWhole(file));

function readWhole(file: string): Capture {
  try {
    return parseCapture(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new PigeonholeError("invalid_capture", `${file}: ${reasonOf(error)}`);
  }
}

/** The capture with its long bodies in its file only. */
function shelved(file: string, capture: Capture): Capture {
  shelveBodies(capture, () => readWhole(file));
  return capture;
}

/** Identifies a state of a file, so that a change by any process shows. undefined if there is no regular file. */
export async function stampOf(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() === true ? writeStamp(found) : undefined;
}

function writeStamp({ ino, size, mtimeMs }: Stats): string {
  return `${ino}-${size}-${mtimeMs}`;
}

/**
 * Writes one capture so that a reader sees the whole old file or the whole new one: mode 0600, readable JSON. Its long
 * bodies are no longer in memory then.
 */
export async function writeCaptureFile(file: string, capture: Capture): Promise<void> {
  await writePrivateFile(file, `${JSON.stringify(capture, undefined, 2)}\n`);
  shelved(file, capture);
}

/** Names of our locks and half-written files. */
const LEFTOVER = /\.json\.lock(?:\.\d+\.tmp)?$|\.json\.[0-9a-f]{12}\.tmp$/;

/** Half-written files of a killed process. They hold personal data too. */
export function removeLeftovers(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder).filter((each) => LEFTOVER.test(each))) {
    const file = join(folder, name);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() === true && nowMs - found.mtimeMs > LEFTOVER_MS) rmSync(file, { force: true });
  }
}

/** The `*.json` of a folder by name, or the one file. Throws `invalid_argument` when the path does not exist. */
export function listCaptureFiles(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new PigeonholeError("invalid_argument", `There is no file or folder "${path}".`);
  if (!stat.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((name) => join(path, name));
}

/** Why it cannot be used. The parser's own message quotes the file, which holds personal data. */
export function reasonOf(error: unknown): string {
  if (isPigeonholeError(error)) return error.message;
  if (error instanceof SyntaxError) return "Not a capture: the file is not valid JSON.";
  return error instanceof Error && "code" in error ? `Cannot be read (${String(error.code)}).` : "Cannot be read.";
}

/** Shorter bodies stay in memory, so that searches in usual ones read no files. */
const MAX_KEPT_BYTES = 16 * 1024;

/** Removes long bodies of a capture from memory. `read` reads its file, each time that one of them is looked at. */
function shelveBodies(capture: Capture, read: () => Capture): void {
  // Lists need it of all captures; it is remembered with the body, as its size is.
  if (bodySize(capture.request.body) > MAX_KEPT_BYTES) findSubject(capture);
  shelve(capture.request.body, () => read().request.body);
  for (const { n, body, sentBody } of capture.attempts) {
    const readAttempt = () => read().attempts.find((attempt) => attempt.n === n);
    shelve(body, () => readAttempt()?.body);
    shelve(sentBody, () => readAttempt()?.sentBody);
  }
}

function shelve(body: CapturedBody | null, read: () => CapturedBody | null | undefined): void {
  if (body === null || bodySize(body) <= MAX_KEPT_BYTES) return;
  Object.defineProperty(body, "data", { configurable: true, enumerable: true, get: () => read()?.data ?? "" });
}
