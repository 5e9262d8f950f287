import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFresh, tryFileLock } from "../../capture/folder/file-lock.js";

/** How often other dev servers are looked for. */
const POLL_INTERVAL_MS = 2_000;
const NAME = /^dev-[0-9a-f]{16}\.lock$/;

/**
 * Reports when another dev server in the same folder has ended, even by a crash, so that its held deliveries need not
 * wait for the next start. Each dev server touches a file while it runs. Does not keep the process alive. Returns a
 * function that ends it.
 */
export function watchOtherDevServers(folder: string, onEnded: () => void): () => Promise<void> {
  const name = `dev-${randomBytes(8).toString("hex")}`;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // If the folder cannot be written, every delivery reports it.
  const touching = tryFileLock(join(folder, name), () => ended).catch(() => undefined);
  let known = new Set<string>();

  async function poll(): Promise<void> {
    const running = await listRunning(folder, `${name}.lock`);
    const hasOneEnded = [...known].some((other) => !running.has(other));
    known = running;
    if (hasOneEnded) onEnded();
  }

  let polling = poll().catch(() => undefined);
  const timer = setInterval(() => {
    polling = polling.then(poll).catch(() => undefined);
  }, POLL_INTERVAL_MS).unref();

  return async () => {
    clearInterval(timer);
    end();
    await Promise.all([polling, touching]);
  };
}

async function listRunning(folder: string, own: string): Promise<Set<string>> {
  const others = (await readdir(folder)).filter((file) => NAME.test(file) && file !== own);
  const touched = await Promise.all(
    others.map((file) =>
      stat(join(folder, file)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return new Set(others.filter((_, index) => isFresh(touched[index] ?? 0)));
}
