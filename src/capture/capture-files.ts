import { readdirSync, readFileSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isPigeonholeError, PigeonholeError } from "../base/error.js";
import type { Capture } from "./capture.js";
import { parseCapture } from "./parse-capture.js";

/** A capture and where it was read. */
export interface CaptureFile {
  file: string;
  capture: Capture;
}

/** A file that holds no capture, and why. */
export interface BrokenFile {
  file: string;
  reason: string;
}

let temporaryNames = 0;

/**
 * Reads all `*.json` of a folder, by name, or one file. What cannot be read is listed and stops nothing. Throws
 * `invalid_argument` when the path does not exist.
 */
export function readCaptureFiles(path: string): { files: CaptureFile[]; broken: BrokenFile[] } {
  const files: CaptureFile[] = [];
  const broken: BrokenFile[] = [];
  for (const file of listFiles(path)) {
    try {
      files.push({ file, capture: parseCapture(JSON.parse(readFileSync(file, "utf8"))) });
    } catch (error) {
      broken.push({ file, reason: reasonOf(error) });
    }
  }
  return { files, broken };
}

/** Writes one capture so that a reader sees the old file or the new one, never a part: mode 0600, readable JSON. */
export async function writeCaptureFile(file: string, capture: Capture): Promise<void> {
  temporaryNames += 1;
  const temporary = `${file}.${process.pid}-${temporaryNames}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(capture, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function listFiles(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new PigeonholeError("invalid_argument", `There is no file or folder "${path}".`);
  if (!stat.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((name) => join(path, name));
}

/** The parser's own message quotes the file, which holds personal data. */
function reasonOf(error: unknown): string {
  if (isPigeonholeError(error)) return error.message;
  if (error instanceof SyntaxError) return "Not a capture: the file is not valid JSON.";
  return error instanceof Error && "code" in error ? `Cannot be read (${String(error.code)}).` : "Cannot be read.";
}
