import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "./open-database.js";
import { OpenFiles, type OpenFilesData } from "./open-files.js";

// The code of the checkpoint thread. It never waits for a lock: what it leaves, the next checkpoint copies.

/** Few enough that a commit seldom waits for the disk behind them. */
const PAGES = 1_000;

/** Copying into files that were replaced would mix two databases; the writer finds and tells the loss. */
const files = new OpenFiles(workerData as OpenFilesData);
const isWhole = (): boolean => files.findLoss() === undefined;

const db = isWhole() ? openDatabase(files.data.file) : undefined;
const readPages = db?.prepare<[], { log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)");

parentPort?.on("message", (message: "commits" | "close") => {
  if (message === "close") {
    db?.close();
    parentPort?.close();
    return;
  }
  try {
    const { log = 0, checkpointed = 0 } = readPages?.get() ?? {};
    if (log - checkpointed < PAGES || !isWhole()) return;
    db?.pragma("wal_checkpoint(PASSIVE)");
    // The next one begins only if the database is still as this one has left it.
    isWhole();
  } catch {
    // A disk that is full or away fails those of the writer as well, which tells it.
  }
});
