import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

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
