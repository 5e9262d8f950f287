import { rename, rm, stat, writeFile } from "node:fs/promises";
import { SECOND } from "../base/duration.js";
import { sleep } from "../base/sleep.js";
import { waitingClock } from "../base/waiting-clock.js";

/** A lock is held for one small write. One this old was left by a process that was killed. */
const STALE_MS = 5 * SECOND;
const RETRY_MS = 10;

/**
 * Runs a task while no other process is in a task for the same file. A lock is a file beside it; one that was left behind is
 * taken away after 5 s.
 */
export async function withFileLock<Value>(file: string, task: () => Promise<Value>): Promise<Value> {
  const lock = `${file}.lock`;
  while (!(await tryLock(lock))) {
    await breakStale(lock);
    await sleep(waitingClock, RETRY_MS);
  }
  try {
    return await task();
  } finally {
    await rm(lock, { force: true });
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, "", { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function breakStale(lock: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(lock);
    if (Date.now() - mtimeMs < STALE_MS) return;
    // Of several that wait only one can move it.
    const moved = `${lock}.${process.pid}.tmp`;
    await rename(lock, moved);
    await rm(moved, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
