import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/** Writes a file that only its owner can read. Whoever reads it meanwhile sees the old content or the new, never a part. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // The draft's name says nothing to whoever named the file, and a full disk names none.
    if (error instanceof Error && "code" in error) Object.assign(error, { path });
    throw error;
  }
}
