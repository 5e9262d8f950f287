import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { type PackedBatch, packResults, unpackBatch } from "./batch-packing.js";
import { createInboxDatabase } from "./inbox-database.js";
import { openDatabase } from "./open-database.js";
import type { ThreadMessage } from "./thread-writer.js";

// The body of the writer thread: one connection, one batch per message, one answer per batch.

const port = parentPort;
if (port === null) throw new PigeonholeError("invalid_argument", "writer-thread must be started as a worker thread.");
const answer = (message: ThreadMessage): void => port.postMessage(message);

const { file } = workerData as { file: string };
try {
  const db = openDatabase(file);
  const inbox = createInboxDatabase(db);
  port.on("message", (message: PackedBatch | "close") => {
    if (message === "close") {
      db.close();
      port.close();
      return;
    }
    const commands = unpackBatch(message);
    answer({ kind: "results", results: packResults(inbox.runBatch(commands), commands) });
  });
  answer({ kind: "ready" });
} catch (error) {
  const { code, message } =
    error instanceof PigeonholeError ? error : new PigeonholeError("store_failed", String(error));
  answer({ kind: "failed", code, message });
}
