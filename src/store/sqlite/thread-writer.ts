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
export class ThreadWriter implements Writer {
  readonly isThread = true;
  readonly filesLost: Promise<PigeonholeError>;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #onAlarm: StoreContext["onAlarm"];
  #reportLoss: (error: PigeonholeError) => void = () => undefined;
  #waiting: Waiting | undefined;
  #dead: PigeonholeError | undefined;
  #spare: ArrayBuffer | undefined;

  /** Resolves when the thread has opened the files; rejects with what that rejects with. */
  static async start(files: OpenFiles, onAlarm: StoreContext["onAlarm"]): Promise<ThreadWriter> {
    const writer = new ThreadWriter(files, onAlarm);
    await writer.#expect();
    return writer;
  }

  private constructor(files: OpenFiles, onAlarm: StoreContext["onAlarm"]) {
    const url = new URL("dist/store/sqlite/writer-thread.js", PACKAGE_FOLDER);
    const worker = new Worker(url, { workerData: files.data });
    this.#worker = worker;
    this.#onAlarm = onAlarm;
    this.filesLost = new Promise((resolve) => (this.#reportLoss = resolve));
    worker.on("message", (message: ThreadMessage) => this.#receive(message));
    worker.on("error", (error: unknown) =>
      this.#die(new PigeonholeError("store_failed", "The writer thread of the store ended.", { cause: error })),
    );
    // Registered at once: a thread that has already ended emits no further event.
    this.#ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.on("exit", () =>
      this.#die(new PigeonholeError("store_failed", "The writer thread of the store ended by itself.")),
    );
  }

  run(batch: BatchPacker): Promise<BatchResults> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    const bodies = batch.joinBodies(this.#spare);
    try {
      this.#worker.postMessage({ commands: batch.commands, bodies } satisfies Batch, [bodies.buffer]);
    } catch (cause) {
      // No failure of the disk; what the store is given consists of texts and numbers.
      return Promise.reject(
        new PigeonholeError("invalid_argument", "The batch cannot be sent to a thread.", { cause }),
      );
    }
    return this.#expect();
  }

  async close(): Promise<void> {
    this.#dead ??= new PigeonholeError("stopped", "The store is closed.");
    this.#worker.ref();
    this.#worker.postMessage("close");
    await this.#ended;
  }

  #receive(message: ThreadMessage): void {
    switch (message.kind) {
      case "results":
        this.#spare = message.spare;
        return this.#finish((waiter) => waiter.resolve(message));
      case "files_lost":
        return this.#reportLoss(new PigeonholeError(message.code, message.message));
      case "wal_blocked":
      case "checkpoint_failed":
        return this.#onAlarm?.(message);
      case "failed":
        return this.#die(new PigeonholeError(message.code, message.message));
    }
  }

  #expect(): Promise<BatchResults> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    this.#worker.ref();
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #finish(settle: (waiter: Waiting) => void): void {
    const waiter = this.#waiting;
    this.#waiting = undefined;
    // The thread alone must not keep the process alive; a batch under way must.
    this.#worker.unref();
    if (waiter !== undefined) settle(waiter);
  }

  #die(error: PigeonholeError): void {
    this.#dead ??= error;
    this.#finish((waiter) => waiter.reject(error));
  }
}
