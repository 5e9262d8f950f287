import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { BackupCopy } from "../inbox-operator.js";
import { IN_MEMORY } from "./open-database.js";
import { openOutsideConnection } from "./open-outside-connection.js";
import { asStoreError } from "./store-error.js";

export interface BackupInput extends BackupCopy {
  /** Path of a receiver's database; the receiver may be running. */
  file: string;
}

/** Pages of one step; the signal is checked between two steps. */
const PAGES_AT_ONCE = 1000;

/**
 * Writes a whole copy of a receiver's database as of one moment, in one file of mode 0600. The copy appears under its
 * name only when it is complete; the receiver continues meanwhile. Resolves with its size in bytes. Rejects as
 * `openInboxFile` does, and with `invalid_argument` for a copy that may not be written there, or with the signal's
 * reason.
 */
export async function backUpInboxFile({
  file,
  copy,
  replace = false,
  signal,
}: BackupInput): Promise<{ bytes: number }> {
  if (file === IN_MEMORY) throw new PigeonholeError("invalid_argument", "A database in memory has no file to copy.");
  const connection = openOutsideConnection(file);
  const draft = `${copy}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    checkCopy({ file, copy, replace });
    // Created here, since SQLite would make it readable by all.
    await writeFile(draft, "", { mode: 0o600, flag: "wx" });
    await copyDatabase({ db: connection.db, draft, signal });
    // A file may have been created there meanwhile.
    checkCopy({ file, copy, replace });
    await rename(draft, copy);
    return { bytes: statSync(copy).size };
  } finally {
    connection.close();
    for (const tail of ["", "-journal", "-wal", "-shm"]) await rm(draft + tail, { force: true });
  }
}

interface CopyInput {
  db: Database;
  draft: string;
  signal: AbortSignal | undefined;
}

async function copyDatabase({ db, draft, signal }: CopyInput): Promise<void> {
  try {
    // Holds a snapshot: without it, the copy would start again at every commit.
    db.exec("BEGIN");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    await db.backup(draft, {
      progress() {
        signal?.throwIfAborted();
        return PAGES_AT_ONCE;
      },
    });
    db.exec("COMMIT");
  } catch (error) {
    signal?.throwIfAborted();
    throw asStoreError(error, `copying ${db.name}`);
  }
}

function checkCopy({ file, copy, replace = false }: BackupInput): void {
  const refuse = (message: string): never => {
    throw new PigeonholeError("invalid_argument", message);
  };
  const folder = statSync(dirname(resolve(copy)), { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) refuse(`The folder of ${copy} does not exist; make it first.`);
  const seen = statSync(copy, { throwIfNoEntry: false });
  if (seen?.isDirectory() === true) refuse(`${copy} is a folder; name a file in it.`);
  if (seen !== undefined && realpathSync(copy) === realpathSync(file)) {
    refuse(`${copy} is the database itself; name another file for the copy.`);
  }
  // SQLite would apply it to the new file, which would damage it; and the database of a running receiver has one.
  if (existsSync(`${copy}-wal`)) {
    refuse(`${copy}-wal exists, so a program has ${copy} open or has crashed with it; name another file.`);
  }
  if (seen !== undefined && !replace)
    refuse(`${copy} exists already; name another file, or have it replaced (--force, { replace: true }).`);
}
