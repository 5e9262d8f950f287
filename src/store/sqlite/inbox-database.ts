import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import {
  ACCEPT,
  type Batch,
  type BatchResults,
  type BatchCommand,
  type CommandResult,
  type Failure,
  commandName,
  tokenOf,
  unpackDone,
  unpackEvent,
} from "./batch.js";
import { findFileLoss } from "./find-file-loss.js";
import { createTokenSource } from "./operations/lease.js";
import type { OpenFiles } from "./open-files.js";
import { prepareAccept } from "./operations/accept.js";
import { prepareAddDone } from "./operations/settle.js";
import { type OtherCommand, prepareOperations } from "./prepare-operations.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";

/** Runs batches of commands, each batch in one durable transaction. */
export interface InboxDatabase {
  runBatch(batch: Batch): BatchResults;
}

/** Once the state of SQLite is uncertain, nothing more is written: the rest fails with the same error. */
function eachUntilBreaking(
  commands: readonly BatchCommand[],
  runAlone: (command: BatchCommand) => readonly CommandResult[] | Failure,
): CommandResult[] {
  let breaking: Failure | undefined;
  return commands.flatMap((command) => {
    const result = breaking ?? runAlone(command);
    if ("code" in result && result.breaking) breaking = result;
    return result;
  });
}

/** All statements of one connection. The schema must be up to date. */
export function createInboxDatabase(db: Database): InboxDatabase {
  const accept = prepareAccept(db);
  const operations = prepareOperations(db, createTokenSource());
  const addDone = prepareAddDone(db);

  function runOne(command: BatchCommand, bodies: Uint8Array): CommandResult {
    if (!("op" in command)) {
      return command[0] === ACCEPT
        ? accept(unpackEvent(command, bodies), tokenOf(command))
        : operations.settle(unpackDone(command));
    }
    const operation = operations[command.op] as (input: OtherCommand["input"]) => unknown;
    return { ok: true, value: operation(command.input) };
  }

  const runTogether = db.transaction((commands: readonly BatchCommand[], bodies: Uint8Array): CommandResult[] => {
    let done = 0;
    const results: CommandResult[] = [];
    for (const command of commands) {
      const result = runOne(command, bodies);
      if (result === "settled") done += 1;
      results.push(result);
    }
    addDone(done);
    return results;
  });

  function attempt(commands: readonly BatchCommand[], bodies: Uint8Array): readonly CommandResult[] | Failure {
    try {
      return runTogether.immediate(commands, bodies);
    } catch (error) {
      const { code, message } = asStoreError(error, commands.slice(0, 3).map(commandName).join(", "));
      return { ok: false, code, message, breaking: isBreaking(error) };
    }
  }

  function runAll({ commands, bodies }: Batch): readonly CommandResult[] {
    const together = attempt(commands, bodies);
    if (!("code" in together)) return together;
    // One bad command must not fail the others of its batch; a locked, full or broken database fails them all.
    const isOfOneCommand = commands.length > 1 && !together.breaking && !isOfDatabase(together);
    if (!isOfOneCommand) return commands.map(() => together);
    return eachUntilBreaking(commands, (command) => attempt([command], bodies));
  }

  return { runBatch: (batch) => ({ results: runAll(batch) }) };
}

/** An inbox that checks after each commit, before the batch is answered, that its files are still at their paths. */
export interface CheckedInbox extends InboxDatabase {
  /** The same check without a batch; undefined when the files are in place. */
  check(): PigeonholeError | undefined;
}

/** `files` is undefined for a database in memory, which has none. */
export function createCheckedInbox(db: Database, files: OpenFiles | undefined): CheckedInbox {
  const inbox = createInboxDatabase(db);

  // What was lost stays lost: the rescue itself may make a second look find nothing.
  let lost: PigeonholeError | undefined;
  const check = (): PigeonholeError | undefined => (lost ??= files && findFileLoss(db, files));

  return {
    check,
    runBatch(batch) {
      const results = inbox.runBatch(batch);
      const failure = check();
      if (failure === undefined) return results;
      const { code, message } = failure;
      return { results: batch.commands.map(() => ({ ok: false, code, message, breaking: true })) };
    },
  };
}
