import { join } from "node:path";
import { makeFolder } from "./folder.js";

export const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";

/** Paths in a new folder, which is removed after the test. */
export function createScratch(): { file: string; sideFile: string } {
  const folder = makeFolder();
  return { file: join(folder, "inbox.db"), sideFile: join(folder, "side.txt") };
}
