import { rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { SECOND } from "../base/duration.js";
import { sleep } from "../base/sleep.js";
import { waitingClock } from "../base/waiting-clock.js";

/** One that nobody has touched for this long was left by a process that was killed. */
const STALE_MS = 5 * SECOND;
/** A lock that is held for longer than a small write is touched this often. */
const TOUCH_MS = STALE_MS / 5;
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
  return holdLock(lock, task);
}

/**
 * Runs a task as {@link withFileLock} does, or resolves with `busy` at once while another process is in one. The task may take as
 * long as it likes.
 */
export async function tryFileLock<Value>(file: string, task: () => Promise<Value>): Promise<Value | "busy"> {
  const lock = `${file}.lock`;
  if (await tryLock(lock)) return holdLock(lock, task);
  // For whoever tries next.
  await breakStale(lock);
  return "busy";
}

/** Whether a lock was touched just now. Nobody has touched one in the time to come: the clock was set back since. */
export function isFresh(touchedMs: number): boolean {
  return Math.abs(Date.now() - touchedMs) < STALE_MS;
}

async function holdLock<Value>(lock: string, task: () => Promise<Value>): Promise<Value> {
  const touching = setInterval(() => {
    const now = new Date();
    // One that was taken away meanwhile is not made again.
    utimes(lock, now, now).catch(() => undefined);
  }, TOUCH_MS).unref();
  try {
    return await task();
  } finally {
    clearInterval(touching);
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
    if (isFresh(mtimeMs)) return;
    // Of several that wait only one can move it.
    const moved = `${lock}.${process.pid}.tmp`;
    await rename(lock, moved);
    await rm(moved, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
