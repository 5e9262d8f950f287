import { resolve } from "node:path";
import type { CommandContext } from "../frame/context.js";
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/** Prints a text unchanged, or writes it to the file of `--out` and reports `what`, such as `3 captures`. */
export async function writeOutput(
  text: string,
  file: string | undefined,
  what: string,
  context: CommandContext,
): Promise<void> {
  const { out, cwd } = context;
  if (file === undefined) {
    out.raw(text);
    return;
  }
  await writePrivateFile(resolve(cwd, file), text);
  out.result({ file, what }, `${what} in ${file}.`);
}

/** Writes a file that only its owner can read. A reader sees the whole old content or the whole new content. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // The error would name the temporary file, which the user does not know; on a full disk it names none.
    if (error instanceof Error && "code" in error) Object.assign(error, { path });
    throw error;
  }
}
