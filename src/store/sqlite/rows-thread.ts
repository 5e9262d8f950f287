import { parentPort, workerData } from "node:worker_threads";
import { checkRows } from "./check-rows.js";
import type { RowsMessage } from "./check-rows-in-thread.js";
import { openKeeper } from "./open-database.js";
import { asStoreError } from "./store-error.js";

// The code of the thread that reads a large database after its start, and then ends. Its connection only reads.

const { file } = workerData as { file: string };
try {
  const db = openKeeper(file);
  try {
    await checkRows(db);
  } finally {
    db.close();
  }
} catch (error) {
  const { code, message } = asStoreError(error, `reading all of ${file}`);
  // Anything else is no damage, and the writer meets it as well.
  if (code === "store_corrupt") parentPort?.postMessage({ message } satisfies RowsMessage);
}
