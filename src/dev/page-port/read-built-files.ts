import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";

/** A file of a built page. */
export interface BuiltFile {
  /** Its media type. */
  type: string;
  bytes: Buffer;
}

/**
 * The files of a built page by their path from its folder, such as `/index.html`; those of which `mediaTypes` has no
 * ending are left out. Empty when the page is not built.
 */
export function readBuiltFiles(
  folder: string,
  mediaTypes: Readonly<Record<string, string>>,
): ReadonlyMap<string, BuiltFile> {
  const files = new Map<string, BuiltFile>();
  const walk = (inner: string): void => {
    for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const path = `${inner}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      const type = mediaTypes[extname(entry.name)];
      if (entry.isFile() && type !== undefined) files.set(path, { type, bytes: readFileSync(join(folder, path)) });
    }
  };
  try {
    walk("");
  } catch {
    // Not built: the page says so.
  }
  return files;
}
