import type { Command, CommandResult } from "./inbox-database.js";

/** Where batches run: a thread of its own, or this one. One batch at a time. */
export interface Writer {
  run(commands: readonly Command[]): Promise<CommandResult[]>;
  close(): Promise<void>;
}
