import { rmSync } from "node:fs";
import { PigeonholeError } from "../base/error.js";
import { writePrivateFile } from "../capture/folder/write-private-file.js";

/** What a script needs to know about a running dev server. */
export interface ReadyNote {
  pid: number;
  captureUrl: string;
  publicUrl: string | null;
  /** Contains the page's token. */
  pageUrl: string | null;
}

/**
 * Writes the file in one step, readable by this user only. Returns a function that removes it. Throws `invalid_option`.
 */
export async function writeReadyFile(file: string, note: ReadyNote): Promise<() => void> {
  try {
    await writePrivateFile(file, `${JSON.stringify(note, undefined, 2)}\n`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new PigeonholeError("invalid_option", `readyFile: ${file} cannot be written${code}.`);
  }
  return () => rmSync(file, { force: true });
}
