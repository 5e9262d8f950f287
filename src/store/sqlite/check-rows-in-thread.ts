import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";

/** Asks the thread to end. */
export const STOP = "stop";

/** What is wrong with the database; the thread says nothing about one that is whole. */
export interface RowsMessage {
  message: string;
}

/** The check of a large database beside its store. */
export interface RowsCheck {
  /** Resolves with `store_corrupt` when damage is found. */
  readonly damage: Promise<PigeonholeError>;
  /** Resolves when its connection is closed, with or without a result. */
  stop(): Promise<void>;
}

/** Reads all rows on a separate thread, so that neither the event loop nor the writer waits for it. */
export function checkRowsInThread(file: string): RowsCheck {
  const worker = new Worker(new URL("dist/store/sqlite/rows-thread.js", PACKAGE_FOLDER), { workerData: { file } });
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  // The check alone must not keep the process alive.
  worker.unref();
  // A thread that cannot run has found nothing.
  worker.on("error", () => undefined);
  return {
    damage: new Promise((resolve) =>
      worker.once("message", ({ message }: RowsMessage) => resolve(new PigeonholeError("store_corrupt", message))),
    ),
    // Asked, not terminated: Node aborts the whole process when a thread is terminated while it loads better-sqlite3.
    stop: () => {
      worker.ref();
      worker.postMessage(STOP);
      return ended;
    },
  };
}
