import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** With more links it is a circle, which SQLite refuses. */
const MAX_LINKS = 40;

/** What symbolic links lead to, also when nothing is there: SQLite puts the WAL beside it. */
export function followLinks(path: string): string {
  let end = path;
  try {
    for (let links = 0; links < MAX_LINKS; links += 1) end = resolve(realpathSync(dirname(end)), readlinkSync(end));
  } catch {
    // This one is no link.
  }
  return end;
}

/** The file that the owner of a database locks: one for each database, through whatever links it is opened. */
export const ownerPath = (file: string): string => `${followLinks(file)}-owner`;
