import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import type { StoreContext } from "../store.js";
import type { Batch, BatchPacker, BatchResults } from "./batch.js";
import type { OpenFiles } from "./open-files.js";
import type { WalAlarm } from "./wal-watch.js";
import type { Writer } from "./writer.js";

/**
 * The thread's answers to a batch and to the opening of the file, which has no results, and its own reports. With an
 * answer comes a buffer for the bodies of the next batch: new memory is cleared first, and much of it makes V8 collect
 * garbage early.
 */
export type ThreadMessage =
  | ({ kind: "results"; spare: ArrayBuffer } & BatchResults)
  | { kind: "files_lost"; code: PigeonholeError["code"]; message: string }
  | WalAlarm
  | { kind: "failed"; code: PigeonholeError["code"]; message: string };

interface Waiting {
  resolve(results: BatchResults): void;
  reject(error: Error): void;
}

/** Runs batches on a worker thread that owns the writing connection, so that the event loop never waits for a disk. */
export async function createThreadWriter(files: OpenFiles, onAlarm: StoreContext["onAlarm"]): Promise<Writer> {
  const worker = new Worker(new URL("dist/store/sqlite/writer-thread.js", PACKAGE_FOLDER), { workerData: files.data });
  let reportLoss: (error: PigeonholeError) => void = () => undefined;
  const filesLost = new Promise<PigeonholeError>((resolve) => (reportLoss = resolve));
  let waiting: Waiting | undefined;
  let dead: PigeonholeError | undefined;
  let spare: ArrayBuffer | undefined;

  function expect(): Promise<BatchResults> {
    if (dead !== undefined) return Promise.reject(dead);
    worker.ref();
    return new Promise((resolve, reject) => (waiting = { resolve, reject }));
  }

  function finish(settle: (waiter: Waiting) => void): void {
    const waiter = waiting;
    waiting = undefined;
    // The thread alone must not keep the process alive; a batch under way must.
    worker.unref();
    if (waiter !== undefined) settle(waiter);
  }

  function die(error: PigeonholeError): void {
    dead ??= error;
    finish((waiter) => waiter.reject(error));
  }

  worker.on("message", (message: ThreadMessage) => {
    switch (message.kind) {
      case "results":
        spare = message.spare;
        return finish((waiter) => waiter.resolve(message));
      case "files_lost":
        return reportLoss(new PigeonholeError(message.code, message.message));
      case "wal_blocked":
      case "checkpoint_failed":
        return onAlarm?.(message);
      case "failed":
        return die(new PigeonholeError(message.code, message.message));
    }
  });
  worker.on("error", (error: unknown) =>
    die(new PigeonholeError("store_failed", "The writer thread of the store ended.", { cause: error })),
  );
  // Registered at once: a thread that has already ended emits no further event.
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("exit", () => die(new PigeonholeError("store_failed", "The writer thread of the store ended by itself.")));

  function run(batch: BatchPacker): Promise<BatchResults> {
    if (dead !== undefined) return Promise.reject(dead);
    const bodies = batch.joinBodies(spare);
    try {
      worker.postMessage({ commands: batch.commands, bodies } satisfies Batch, [bodies.buffer]);
    } catch (cause) {
      // No failure of the disk; what the store is given consists of texts and numbers.
      return Promise.reject(
        new PigeonholeError("invalid_argument", "The batch cannot be sent to a thread.", { cause }),
      );
    }
    return expect();
  }

  await expect();
  return {
    run,
    isThread: true,
    filesLost,
    async close() {
      dead ??= new PigeonholeError("stopped", "The store is closed.");
      worker.ref();
      worker.postMessage("close");
      await ended;
    },
  };
}
