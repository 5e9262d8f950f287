import type { Database } from "better-sqlite3";
import {
  ACCEPT,
  type Batch,
  type BatchResults,
  type Command,
  type Result,
  nameOf,
  unpackDone,
  unpackEvent,
} from "./batch.js";
import type { Failure } from "./command-result.js";
import { DirectPairs } from "./direct-pairs.js";
import { EventNumbers } from "./event-numbers.js";
import { createTokenSource } from "./lease-token.js";
import { prepareAccept } from "./operations/accept.js";
import { prepareAddDone } from "./operations/counts.js";
import { type OtherCommand, prepareOperations } from "./prepare-operations.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";

/** Runs batches of commands, each batch in one durable transaction. */
export interface InboxDatabase {
  runBatch(batch: Batch): BatchResults;
}

/** Once the state of SQLite is uncertain, nothing more is written: the rest fails with the same error. */
function eachUntilBreaking(
  commands: readonly Command[],
  runAlone: (command: Command) => readonly Result[] | Failure,
): Result[] {
  let breaking: Failure | undefined;
  return commands.flatMap((command) => {
    const result = breaking ?? runAlone(command);
    if ("code" in result && result.breaking) breaking = result;
    return result;
  });
}

/** All statements of one connection. The schema must be up to date. */
export function createInboxDatabase(db: Database): InboxDatabase {
  const pairs = new DirectPairs(db);
  const numbers = new EventNumbers(db);
  const nextToken = createTokenSource();
  const accept = prepareAccept(db, { numbers, pairs, nextToken });
  const operations = prepareOperations(db, pairs, nextToken);
  const addDone = prepareAddDone(db);

  function runOne(command: Command, bodies: Uint8Array): Result {
    if (!("op" in command)) {
      return command[0] === ACCEPT ? accept(unpackEvent(command, bodies)) : operations.settle(unpackDone(command));
    }
    // An operation that reads the marks must find those of this batch.
    if (command.op !== "settle") pairs.flush();
    const operation = operations[command.op] as (input: OtherCommand["input"]) => unknown;
    return { ok: true, value: operation(command.input) };
  }

  const runTogether = db.transaction((commands: readonly Command[], bodies: Uint8Array): Result[] => {
    let done = 0;
    pairs.begin();
    numbers.begin();
    const results: Result[] = [];
    for (const command of commands) {
      const result = runOne(command, bodies);
      if (result === "settled") done += 1;
      results.push(result);
    }
    pairs.flush();
    addDone(done);
    return results;
  });

  function attempt(commands: readonly Command[], bodies: Uint8Array): readonly Result[] | Failure {
    try {
      const results = runTogether.immediate(commands, bodies);
      pairs.committed();
      return results;
    } catch (error) {
      pairs.rolledBack();
      const { code, message } = asStoreError(error, commands.slice(0, 3).map(nameOf).join(", "));
      return { ok: false, code, message, breaking: isBreaking(error) };
    }
  }

  function runAll({ commands, bodies }: Batch): readonly Result[] {
    const together = attempt(commands, bodies);
    if (!("code" in together)) return together;
    // One bad command must not fail the others of its batch; a locked, full or broken database fails them all.
    const isOfOneCommand = commands.length > 1 && !together.breaking && !isOfDatabase(together);
    if (!isOfOneCommand) return commands.map(() => together);
    return eachUntilBreaking(commands, (command) => attempt([command], bodies));
  }

  return {
    runBatch(batch) {
      for (const lease of batch.ended) pairs.forget(lease);
      return { results: runAll(batch), epoch: pairs.ownEpoch ?? 0 };
    },
  };
}
