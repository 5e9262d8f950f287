import { randomBytes } from "node:crypto";
import { opendir, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { HOUR } from "../base/duration.js";

/** Names of the files in which downloads begin. The final name is not in them: it may be as long as names can be. */
const DRAFT = /^pigeonhole-[0-9a-f]{24}\.part$/;

/** A download gives up sooner when nothing arrives: a draft of this age is that of a process that was killed. */
const MAX_IDLE_MS = HOUR;

/** When this process last looked for old drafts, by folder. */
const lookedAt = new Map<string, number>();

/** A path beside the file, on the same disk, that no other file has. */
export function draftBeside(path: string): string {
  return join(dirname(path), `pigeonhole-${randomBytes(12).toString("hex")}.part`);
}

/** Removes the drafts of processes that were killed: at the first call for a folder, and then once an hour. */
export async function removeOldDrafts(given: string): Promise<void> {
  const folder = resolve(given);
  const now = Date.now();
  if (now - (lookedAt.get(folder) ?? -Infinity) < MAX_IDLE_MS) return;
  for (const [other, at] of lookedAt) if (now - at >= MAX_IDLE_MS) lookedAt.delete(other);
  lookedAt.set(folder, now);
  try {
    for await (const { name } of await opendir(folder)) if (DRAFT.test(name)) await removeOld(join(folder, name), now);
  } catch {
    // A folder without read access still takes files.
  }
}

async function removeOld(path: string, now: number): Promise<void> {
  try {
    if (now - (await stat(path)).mtimeMs > MAX_IDLE_MS) await rm(path);
  } catch {
    // Another process may have removed it, and one that cannot be removed must not keep the others.
  }
}
