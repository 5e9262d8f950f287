import type { PigeonholeError } from "../../base/error.js";
import type { BatchPacker, BatchResults } from "./batch.js";

/** Runs batches, on a separate thread or on this one. One batch at a time. */
export interface Writer {
  run(batch: BatchPacker): Promise<BatchResults>;
  /**
   * True when commits are worth sharing: a commit on a thread costs that thread and the main one more than several
   * settlements do.
   */
  readonly isThread: boolean;
  /** Resolves when the files are found to be removed while no batch runs. */
  readonly filesLost: Promise<PigeonholeError>;
  close(): Promise<void>;
}
