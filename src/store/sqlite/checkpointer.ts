import { Worker } from "node:worker_threads";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import type { OpenFilesData } from "./open-files.js";

/** About 800 pages, less than what the thread waits for. */
const COMMANDS = 128;

/**
 * Asks a thread of its own to copy the WAL into the database beside the commits, which would wait for that otherwise.
 * Without the thread, the connection that writes does it after 4,000 pages.
 */
export class Checkpointer {
  readonly #files: OpenFilesData;
  #thread: { worker: Worker; ended: Promise<void> } | undefined;
  #commands = 0;

  constructor(files: OpenFilesData) {
    this.#files = files;
  }

  /** Starts the thread with the first of many commands: a receiver with little to do needs none. */
  noteCommit(commands: number): void {
    this.#commands += commands;
    if (this.#commands < COMMANDS) return;
    this.#commands = 0;
    // One that starts knows the files only from then on: it waits for the next commit that finds them unchanged.
    if (this.#thread === undefined) this.#thread = startThread(this.#files);
    else this.#thread.worker.postMessage("commits");
  }

  /** Waits for a checkpoint that is in progress. */
  async close(): Promise<void> {
    if (this.#thread === undefined) return;
    const { worker, ended } = this.#thread;
    worker.ref();
    worker.postMessage("close");
    await ended;
  }
}

function startThread(workerData: OpenFilesData): { worker: Worker; ended: Promise<void> } {
  const worker = new Worker(new URL("dist/store/sqlite/checkpoint-thread.js", PACKAGE_FOLDER), { workerData });
  worker.unref();
  // It could not open the file: the writer makes the checkpoints.
  worker.on("error", () => undefined);
  return { worker, ended: new Promise((resolve) => worker.once("exit", () => resolve())) };
}
