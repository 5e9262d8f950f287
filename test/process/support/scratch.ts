import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { killAll } from "./receiver-process.js";

export const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";

const folders: string[] = [];

afterEach(() => {
  killAll();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Paths in a new folder, which is removed after the test. */
export function createScratch(): { file: string; sideFile: string } {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-process-"));
  folders.push(folder);
  return { file: join(folder, "inbox.db"), sideFile: join(folder, "side.txt") };
}
