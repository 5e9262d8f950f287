import { parentPort, workerData } from "node:worker_threads";
import { checkRows } from "./check-rows.js";
import { STOP, type RowsMessage } from "./check-rows-in-thread.js";
import { openKeeper } from "./open-database.js";
import { asStoreError } from "./store-error.js";

// The code of the thread that reads a large database after its start, and then ends. Its connection only reads.

const { file } = workerData as { file: string };
const stopping = new AbortController();
parentPort?.on("message", (message) => message === STOP && stopping.abort());
parentPort?.unref(); // the thread ends with its check
try {
  const db = openKeeper(file);
  try {
    await checkRows(db, stopping.signal);
  } finally {
    db.close();
  }
} catch (error) {
  const { code, message } = asStoreError(error, `reading all of ${file}`);
  // Anything else is a stop, or something that the writer meets as well.
  if (code === "store_corrupt") parentPort?.postMessage({ message } satisfies RowsMessage);
}
