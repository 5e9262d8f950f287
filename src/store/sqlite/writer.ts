import type { PigeonholeError } from "../../base/error.js";
import type { BatchPacker, BatchResults } from "./batch.js";
import type { Lease } from "../work.js";

/** Where batches run: a thread of its own, or this one. One batch at a time. */
export interface Writer {
  /** `ended`: see {@link Batch}. */
  run(batch: BatchPacker, ended: readonly Lease[]): Promise<BatchResults>;
  /** Whether commits are worth sharing: those of a thread cost it and the main thread more than several done marks do. */
  readonly isThread: boolean;
  /** Resolves when the files turn out to be taken away while no batch ran. */
  readonly fault: Promise<PigeonholeError>;
  close(): Promise<void>;
}
