import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFresh, tryFileLock } from "../../capture/file-lock.js";

/** How often other dev servers are looked for. */
const LOOK_MS = 2_000;
const NAME = /^dev-[0-9a-f]{16}\.lock$/;

/**
 * Reports when another dev server in the same folder has ended, even by a crash, so that its held deliveries need not
 * wait for the next start. Each dev server touches a file while it runs. Does not keep the process alive. Returns a
 * function that ends it.
 */
export function watchNeighbours(folder: string, onGone: () => void): () => Promise<void> {
  const name = `dev-${randomBytes(8).toString("hex")}`;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // If the folder cannot be written, every delivery reports it.
  const living = tryFileLock(join(folder, name), () => ended).catch(() => undefined);
  let known = new Set<string>();

  async function look(): Promise<void> {
    const alive = await listLiving(folder, `${name}.lock`);
    const isOneGone = [...known].some((other) => !alive.has(other));
    known = alive;
    if (isOneGone) onGone();
  }

  let looking = look().catch(() => undefined);
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, LOOK_MS).unref();

  return async () => {
    clearInterval(timer);
    end();
    await Promise.all([looking, living]);
  };
}

async function listLiving(folder: string, own: string): Promise<Set<string>> {
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
