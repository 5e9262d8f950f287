import { realpathSync, statSync } from "node:fs";

/**
 * Path of the WAL beside a database, which has old versions of changed pages; undefined where it is missing or empty.
 * It is there while a receiver runs, and after one crashed.
 */
export function findOldVersions(file: string): string | undefined {
  const path = `${realpathSync(file)}-wal`;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 ? path : undefined;
}
