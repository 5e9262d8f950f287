import { realpathSync, statSync } from "node:fs";

/**
 * Path of the WAL beside a database that this process has closed, which has old versions of changed pages; undefined
 * where it is missing or empty. It is there while a receiver runs, and after one crashed. It is not truncated from
 * outside, because a receiver that has lost its locks looks like none.
 */
export function findOldVersions(file: string): string | undefined {
  const path = `${realpathSync(file)}-wal`;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 ? path : undefined;
}
