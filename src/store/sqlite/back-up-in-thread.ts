import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";

/** What the thread is given. */
export interface BackupRequest {
  file: string;
  copy: string;
  replace: boolean;
}

/** What the thread answers, once. */
export type BackupMessage =
  | { kind: "copied"; bytes: number }
  | { kind: "failed"; code: PigeonholeError["code"]; message: string };

/**
 * Copies the database on a thread of its own, so that the event loop does not wait for the disk. It is the same SQLite as the
 * store's, which knows all handles of the process: a copy made by other means would end the locks of the store.
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
