import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { type Batch, type BatchResults, failureOf } from "./batch.js";
import { Checkpointer } from "./checkpointer.js";
import { createCheckedInbox } from "./inbox-database.js";
import { openDatabase } from "./open-database.js";
import { OpenFiles, type OpenFilesData } from "./open-files.js";
import type { ThreadMessage } from "./thread-writer.js";
import { WalWatch } from "./wal-watch.js";

// The code of the writer thread: one connection, one batch per message, one answer per batch.

/** How often the files are checked between commits, so that an idle receiver also notices when they are gone. */
const CHECK_INTERVAL_MS = 250;

/** A full batch of usual bodies. Only what is written of it takes memory. */
const SPARE_BYTES = 1024 * 1024;

const port = parentPort;
if (port === null) throw new PigeonholeError("invalid_argument", "writer-thread must be started as a worker thread.");
const answer = (message: ThreadMessage): void => port.postMessage(message);
/** The caller gets the buffer of the bodies back, unless it is larger than it has to be. */
const answerBatch = (results: BatchResults, used: ArrayBufferLike): void => {
  const spare = used.byteLength === SPARE_BYTES ? (used as ArrayBuffer) : new ArrayBuffer(SPARE_BYTES);
  port.postMessage({ kind: "results", spare, ...results } satisfies ThreadMessage, [spare]);
};

try {
  const files = new OpenFiles(workerData as OpenFilesData);
  const db = openDatabase(files.data.file);
  const inbox = createCheckedInbox(db, files);
  // This connection must have opened the same files as the first one; otherwise it fails here, before the first batch.
  const failure = inbox.check();
  if (failure !== undefined) throw failure;
  const checkpointer = new Checkpointer(files.data);
  const wal = new WalWatch(db, files.data.walPath);
  const checking = setInterval(() => {
    const found = inbox.check();
    if (found !== undefined) {
      clearInterval(checking);
      return answer({ kind: "files_lost", code: found.code, message: found.message });
    }
    const alarm = wal.check(performance.now());
    if (alarm !== undefined) answer(alarm);
  }, CHECK_INTERVAL_MS);
  const close = async (): Promise<void> => {
    clearInterval(checking);
    await checkpointer.close();
    db.close();
    port.close();
  };
  port.on("message", (message: Batch | "close") => {
    if (message === "close") return void close();
    const { results } = inbox.runBatch(message);
    answerBatch({ results }, message.bodies.buffer);
    if (!results.some((result) => failureOf(result)?.breaking)) checkpointer.noteCommit(results.length);
  });
  answerBatch({ results: [] }, new ArrayBuffer(0));
} catch (error) {
  const { code, message } =
    error instanceof PigeonholeError ? error : new PigeonholeError("store_failed", String(error));
  answer({ kind: "failed", code, message });
}
