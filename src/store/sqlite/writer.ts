import type { PigeonholeError } from "../../base/error.js";
import type { Lease } from "../work.js";
import type { Command, CommandResult } from "./inbox-database.js";

/** Where batches run: a thread of its own, or this one. One batch at a time. */
export interface Writer {
  /** `ended`: see {@link InboxDatabase.runBatch}. */
  run(commands: readonly Command[], ended: readonly Lease[]): Promise<CommandResult[]>;
  /** Resolves when the files turn out to be taken away while no batch ran. */
  readonly fault: Promise<PigeonholeError>;
  close(): Promise<void>;
}
