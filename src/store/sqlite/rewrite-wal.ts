import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { asStoreError } from "./store-error.js";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Makes the visible content of the WAL durable. After a failed sync, the system may show bytes that it never writes to
 * the disk; a process that starts then reads them as committed, and appends after a gap. Writing these bytes again puts
 * them on the disk; shown in test/torture/power-loss.test.ts. No other process appends meanwhile, because the writer's
 * lock is held. SQLite keeps no lock on this file, so closing it here releases none.
 */
export function rewriteWal(db: Database, file: string, walPath: string): void {
  try {
    db.transaction(() => {
      const fd = openSync(walPath, "r+");
      try {
        rewrite(fd);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    }).immediate();
  } catch (error) {
    throw asStoreError(error, `rewriting the WAL of ${file}`);
  }
}

function rewrite(fd: number): void {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let position = 0;
  for (;;) {
    const length = readSync(fd, chunk, 0, CHUNK_BYTES, position);
    if (length === 0) return;
    let written = 0;
    while (written < length) written += writeSync(fd, chunk, written, length - written, position + written);
    position += length;
  }
}
