import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PigeonholeError } from "../base/error.js";
import type { AnswerBytes } from "./answer-bytes.js";
import { draftBeside, removeOldDrafts } from "./draft-files.js";

/**
 * A file of the service. Its bytes are read once, by one of `stream`, `bytes` and `saveTo`; a second read throws
 * `invalid_argument`. Cancel one that you do not read: its connection and its listener on the call's signal stay until
 * then. A read rejects with NoAnswerError if the connection breaks, or if nothing arrives for the client's `timeoutMs`,
 * and with the reason of the call's signal.
 */
export interface Download {
  /** The file's content type, `application/octet-stream` if the service names none. */
  readonly contentType: string;
  /** The file's name without folders, safe as the last part of a path; undefined if the service names none. */
  readonly filename: string | undefined;
  /** Number of bytes; undefined if the service does not say. */
  readonly sizeBytes: number | undefined;
  /** The bytes as they arrive. Cancelling it closes the connection. */
  stream(): ReadableStream<Uint8Array>;
  /**
   * All bytes at once. Rejects with `answer_too_large` above `maxBytes`, by default the client's `maxAnswerBytes`, and
   * with `invalid_argument` for a `maxBytes` that is no number of bytes.
   */
  bytes(maxBytes?: number): Promise<Uint8Array>;
  /**
   * Writes the bytes to a file as they arrive, and resolves with their number. The file appears under its name only
   * when it is complete and on the disk, and replaces another one there. Until then the bytes are in a file
   * `pigeonhole-….part` beside it. If the process is killed, a `saveTo` into the folder removes that an hour later.
   */
  saveTo(path: string): Promise<{ bytes: number }>;
  /** Closes the connection without reading what is left. Has no effect after a complete read, or a second time. */
  cancel(): void;
}

interface DownloadInput {
  bytes: AnswerBytes;
  headers: Headers;
  /** Longest of `bytes()`. */
  maxAnswerBytes: number;
  /** The error for a file above the limit. */
  tooLarge: (maxBytes: number) => Error;
}

/** A download of a successful answer. */
export function createDownload({ bytes: source, headers, maxAnswerBytes, tooLarge }: DownloadInput): Download {
  return {
    contentType: headers.get("content-type") ?? "application/octet-stream",
    filename: readFileName(headers.get("content-disposition")),
    sizeBytes: source.sizeBytes,
    stream: () => streamOf(source),
    bytes: (maxBytes = maxAnswerBytes) => readAll(source, maxBytes, tooLarge),
    saveTo: (path) => save(source, path),
    cancel: () => source.close(),
  };
}

function streamOf(source: AnswerBytes): ReadableStream<Uint8Array> {
  source.begin();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await source.next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => source.close(),
    },
    { highWaterMark: 0 },
  );
}

async function readAll(
  source: AnswerBytes,
  maxBytes: number,
  tooLarge: (maxBytes: number) => Error,
): Promise<Uint8Array> {
  if (typeof maxBytes !== "number" || !(maxBytes >= 0)) {
    throw new PigeonholeError("invalid_argument", "maxBytes must be a number of bytes.");
  }
  source.begin();
  const refuse = (): never => {
    source.close();
    throw tooLarge(maxBytes);
  };
  const { sizeBytes = 0 } = source;
  if (sizeBytes > maxBytes) refuse();
  // Filled in place, so that a file of known size is in memory once.
  let all = new Uint8Array(sizeBytes);
  let length = 0;
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    const end = length + chunk.byteLength;
    if (end > maxBytes) refuse();
    if (end > all.byteLength) all = grow(all, Math.min(maxBytes, Math.max(end, 2 * all.byteLength)));
    all.set(chunk, length);
    length = end;
  }
  return all.subarray(0, length);
}

function grow(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

async function save(source: AnswerBytes, path: string): Promise<{ bytes: number }> {
  source.begin();
  const draft = draftBeside(path);
  let file: FileHandle | undefined;
  try {
    file = await open(draft, "wx");
    const bytes = await writeAll(source, file);
    await file.sync();
    await file.close();
    await rename(draft, path);
    await syncFolder(dirname(path));
    await removeOldDrafts(dirname(path));
    return { bytes };
  } catch (error) {
    source.close();
    // It is closed already if closing or renaming failed.
    await file?.close().catch(() => {});
    await rm(draft, { force: true });
    // The error would name the draft, which the caller does not know.
    if (error instanceof Error && "path" in error) {
      Object.assign(error, { path, message: error.message.replace(draft, path) });
    }
    throw error;
  }
}

async function writeAll(source: AnswerBytes, file: FileHandle): Promise<number> {
  let length = 0;
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    // Continues where the last one ended.
    await file.writeFile(chunk);
    length += chunk.byteLength;
    source.release(chunk);
  }
  return length;
}

/** Without it, a power cut could take the new name back. Windows cannot open a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const EXTENDED = /(?:^|;)\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i;
const QUOTED = /(?:^|;)\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i;
const PLAIN = /(?:^|;)\s*filename\s*=\s*([^";\s]+)/i;

/**
 * The name of a file in a header Content-Disposition (RFC 6266), without folders and control characters; undefined
 * without one, and for `.` and `..`.
 */
export function readFileName(header: string | null): string | undefined {
  if (header === null) return undefined;
  const name = decode(EXTENDED.exec(header)?.[1]) ?? unquote(header) ?? PLAIN.exec(header)?.[1] ?? "";
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const safe = last.replaceAll(/[\p{Cc}\p{Cs}]/gu, "_").trim();
  return safe === "" || safe === "." || safe === ".." ? undefined : safe;
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function unquote(header: string): string | undefined {
  return QUOTED.exec(header)?.[1]?.replaceAll(/\\(.)/g, "$1");
}
