import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import type { BackupMessage, BackupRequest } from "./back-up-in-thread.js";

// The code of the thread that makes one copy and then ends.

const answer = (message: BackupMessage): void => parentPort?.postMessage(message);
try {
  answer({ kind: "copied", ...(await backUpInboxFile(workerData as BackupRequest)) });
} catch (error) {
  const { code, message } =
    error instanceof PigeonholeError ? error : new PigeonholeError("store_failed", `copying failed: ${String(error)}`);
  answer({ kind: "failed", code, message });
}
