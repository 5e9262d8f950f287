import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";

/** The input of the thread. */
export interface BackupRequest {
  file: string;
  copy: string;
  replace: boolean;
}

/** The one answer of the thread. */
export type BackupMessage =
  | { kind: "copied"; bytes: number }
  | { kind: "failed"; code: PigeonholeError["code"]; message: string };

/**
 * Copies the database on a separate thread, so that the event loop does not wait for the disk. The thread uses the same
 * SQLite as the store, which knows all handles of the process: a copy made by other means would release the locks of
 * the store.
 */
export function backUpInThread(request: BackupRequest): Promise<{ bytes: number }> {
  const worker = new Worker(new URL("./backup-thread.js", import.meta.url), { workerData: request });
  return new Promise((resolve, reject) => {
    worker.once("message", (message: BackupMessage) => {
      if (message.kind === "copied") resolve({ bytes: message.bytes });
      else reject(new PigeonholeError(message.code, message.message));
    });
    worker.once("error", (cause) =>
      reject(new PigeonholeError("store_failed", "The copying thread ended.", { cause })),
    );
    worker.once("exit", () => reject(new PigeonholeError("store_failed", "The copying thread ended by itself.")));
  });
}
