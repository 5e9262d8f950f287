import { rm } from "node:fs/promises";
import { isPigeonholeError } from "../../base/error.js";
import { type MentionsEmail, createMentionsEmail } from "../../base/mentions-email.js";
import { type BrokenFile, readCaptureFiles, reasonOf, removeLeftovers } from "../folder/capture-files.js";
import { withFileLock } from "../folder/file-lock.js";
import { captureFolderIn } from "../folder/private-folder.js";
import type { Capture } from "../model/capture.js";
import { decodeBody } from "../model/captured-body.js";

/** Which captures are to be erased. */
export interface EraseCapturesOptions {
  /** One address, such as `ann@example.com`, in any case. */
  email: string;
  /** The folder in which `pigeonhole dev` runs has it as `.pigeonhole`. */
  folder: string;
  /** Counts, and changes nothing. @default false */
  dryRun?: boolean | undefined;
}

/** What `eraseCaptures` did, or with `dryRun` would do. */
export interface ErasedCaptures {
  /** Captures that were deleted, pinned ones too. */
  captures: number;
  /** Files that cannot be searched or deleted, and why: they may still mention the address. */
  filesLeft: readonly { file: string; reason: string }[];
}

/**
 * Deletes the captures of `pigeonhole dev` that mention an e-mail address, whole files, while other processes use the
 * folder; `receiver.inbox.erase` does the same in the database. Rejects with `invalid_argument` for what is not one
 * address, and if the folder has no captures.
 */
export async function eraseCaptures({ email, folder, dryRun = false }: EraseCapturesOptions): Promise<ErasedCaptures> {
  const mentions = createMentionsEmail(email);
  const { files, broken } = readFolder(folder, { dryRun });
  const found = files.filter(({ capture }) => isMentionedIn(capture, mentions));
  if (dryRun) return { captures: found.length, filesLeft: broken };
  const left = await deleteFiles(found.map(({ file }) => file));
  return { captures: found.length - left.length, filesLeft: [...broken, ...left] };
}

/** True when a capture mentions the address anywhere: in its request, its attempts and their answers, or its note. */
function isMentionedIn(capture: Capture, mentions: MentionsEmail): boolean {
  const { request, attempts } = capture;
  const bodies = [request.body, ...attempts.flatMap(({ sentBody, body }) => [sentBody, body])];
  return mentions(JSON.stringify(capture)) || bodies.some((body) => body !== null && mentions(decodeBody(body)));
}

/** A folder that cannot be read is left as a whole; one that is missing is an error. */
function readFolder(folder: string, { dryRun }: { dryRun: boolean }): ReturnType<typeof readCaptureFiles> {
  try {
    const path = captureFolderIn(folder);
    const read = readCaptureFiles(path);
    if (!dryRun) removeLeftovers(path, Date.now());
    return read;
  } catch (error) {
    if (isPigeonholeError(error) && error.code !== "invalid_capture") throw error;
    return { files: [], broken: [{ file: folder, reason: reasonOf(error) }] };
  }
}

/** Returns the files that cannot be deleted. */
async function deleteFiles(files: readonly string[]): Promise<BrokenFile[]> {
  const left: BrokenFile[] = [];
  for (const file of files) {
    await withFileLock(file, () => rm(file, { force: true })).catch((error: unknown) => {
      left.push({ file, reason: `Cannot be deleted${codeIn(error)}.` });
    });
  }
  return left;
}

function codeIn(error: unknown): string {
  return error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
}
