import type { Database } from "better-sqlite3";
import type { ErrorCode } from "../../base/error.js";
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
import { prepareAccept } from "./operations/accept.js";
import { prepareAddDone, prepareCountPage } from "./operations/counts.js";
import { prepareErase } from "./operations/erase.js";
import { prepareInspect } from "./operations/inspect.js";
import { prepareLease, prepareRelease, prepareRenew } from "./operations/lease.js";
import {
  prepareCountOutbox,
  prepareDiscardOutbox,
  prepareListOutbox,
  prepareRetryOutbox,
} from "./operations/outbox-inspect.js";
import { prepareRecord } from "./operations/outbox-record.js";
import { prepareLeaseSend } from "./operations/outbox-send.js";
import { prepareSettleSend } from "./operations/outbox-settle.js";
import { preparePrune } from "./operations/prune.js";
import { prepareRecover } from "./operations/recover.js";
import { prepareDiscard, prepareReplan } from "./operations/replan.js";
import { prepareRestartWaits } from "./operations/restart-waits.js";
import { prepareSettle } from "./operations/settle.js";
import { prepareLoadSteps, prepareSaveStep } from "./operations/steps.js";
import { prepareNoteTimes } from "./operations/times.js";
import { DirectPairs } from "./direct-pairs.js";
import { EventNumbers } from "./event-numbers.js";
import { type NextToken, createTokenSource } from "./lease-token.js";
import { onFirstUse } from "./on-first-use.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";

function prepareOperations(db: Database, pairs: DirectPairs, nextToken: NextToken) {
  return {
    settle: prepareSettle(db, pairs),
    lease: onFirstUse(() => prepareLease(db, nextToken)),
    renew: onFirstUse(() => prepareRenew(db, pairs)),
    release: onFirstUse(() => prepareRelease(db, pairs)),
    recover: onFirstUse(() => prepareRecover(db, pairs)),
    restartWaits: onFirstUse(() => prepareRestartWaits(db, pairs)),
    loadSteps: onFirstUse(() => prepareLoadSteps(db)),
    saveStep: onFirstUse(() => prepareSaveStep(db)),
    list: onFirstUse(() => prepareInspect(db).list),
    get: onFirstUse(() => prepareInspect(db).get),
    listStuck: onFirstUse(() => prepareInspect(db).listStuck),
    replan: onFirstUse(() => prepareReplan(db)),
    discard: onFirstUse(() => prepareDiscard(db)),
    erase: onFirstUse(() => prepareErase(db)),
    countPage: onFirstUse(() => prepareCountPage(db)),
    prune: onFirstUse(() => preparePrune(db)),
    noteTimes: onFirstUse(() => prepareNoteTimes(db)),
    record: onFirstUse(() => prepareRecord(db)),
    leaseSend: onFirstUse(() => prepareLeaseSend(db, nextToken)),
    settleSend: onFirstUse(() => prepareSettleSend(db)),
    listOutbox: onFirstUse(() => prepareListOutbox(db)),
    retryOutbox: onFirstUse(() => prepareRetryOutbox(db)),
    discardOutbox: onFirstUse(() => prepareDiscardOutbox(db)),
    countOutbox: onFirstUse(() => prepareCountOutbox(db)),
  };
}

type Operations = ReturnType<typeof prepareOperations>;
export type OperationName = keyof Operations;
export type InputOf<Name extends OperationName> = Parameters<Operations[Name]>[0];
export type ResultOf<Name extends OperationName> = ReturnType<Operations[Name]>;

/** A call of an operation that few events need, as data. */
export type OtherCommand = { [Name in OperationName]: { op: Name; input: InputOf<Name> } }[OperationName];

/** The result of a command. `breaking`: the state of SQLite is uncertain, nothing more may be written. */
export type CommandResult = { ok: true; value: unknown } | Failure;

export interface Failure {
  ok: false;
  code: ErrorCode;
  message: string;
  breaking: boolean;
}

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
