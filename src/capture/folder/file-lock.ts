import { rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { SECOND } from "../../base/duration.js";
import { sleep } from "../../base/wait.js";
import { waitingClock } from "../../base/clock.js";

/** A lock that was not touched for this long was left by a killed process. */
const STALE_MS = 5 * SECOND;
/** A lock is touched this often while it is held. */
const TOUCH_MS = STALE_MS / 5;
const RETRY_MS = 10;

/**
 * Runs a task, which may take any time, while no other process runs a task for the same file. The lock is a file beside
 * it. A lock left behind is removed after 5 s.
 */
export async function withFileLock<Value>(file: string, task: () => Promise<Value>): Promise<Value> {
  const lock = `${file}.lock`;
  while (!(await tryLock(lock))) {
    await breakStale(lock);
    await sleep(waitingClock, RETRY_MS);
  }
  const touching = setInterval(() => {
    const now = new Date();
    // utimes does not create a lock that was removed meanwhile.
    utimes(lock, now, now).catch(() => undefined);
  }, TOUCH_MS).unref();
  try {
    return await task();
  } finally {
    clearInterval(touching);
    await rm(lock, { force: true });
  }
}

/** Whether a lock was touched recently. A time far in the future is not recent: the clock was set back since. */
function isFresh(touchedMs: number): boolean {
  return Math.abs(Date.now() - touchedMs) < STALE_MS;
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
    if (isFresh(mtimeMs)) return;
    // Of several waiting processes only one can rename it.
    const moved = `${lock}.${process.pid}.tmp`;
    await rename(lock, moved);
    await rm(moved, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
