import type { Database } from "better-sqlite3";
import type { ErrorCode } from "../../base/error.js";
import type { Lease } from "../work.js";
import { prepareAccept } from "./operations/accept.js";
import { prepareAddDone, prepareCounts } from "./operations/counts.js";
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
import { createTokenSource } from "./lease-token.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";

function prepareOperations(db: Database, pairs: DirectPairs, numbers: EventNumbers) {
  const nextToken = createTokenSource();
  return {
    accept: prepareAccept(db, { numbers, pairs, nextToken }),
    lease: prepareLease(db, nextToken),
    renew: prepareRenew(db, pairs),
    release: prepareRelease(db, pairs),
    settle: prepareSettle(db, pairs),
    recover: prepareRecover(db, pairs),
    restartWaits: prepareRestartWaits(db, pairs),
    loadSteps: prepareLoadSteps(db),
    saveStep: prepareSaveStep(db),
    ...prepareInspect(db),
    replan: prepareReplan(db),
    discard: prepareDiscard(db),
    counts: prepareCounts(db),
    prune: preparePrune(db),
    noteTimes: prepareNoteTimes(db),
    record: prepareRecord(db),
    leaseSend: prepareLeaseSend(db, nextToken),
    settleSend: prepareSettleSend(db),
    listOutbox: prepareListOutbox(db),
    retryOutbox: prepareRetryOutbox(db),
    discardOutbox: prepareDiscardOutbox(db),
    countOutbox: prepareCountOutbox(db),
  };
}

type Operations = ReturnType<typeof prepareOperations>;
export type OperationName = keyof Operations;
export type InputOf<Name extends OperationName> = Parameters<Operations[Name]>[0];
export type ResultOf<Name extends OperationName> = ReturnType<Operations[Name]>;

/** One call of an operation as data, so that it can cross to a thread. */
export type Command = { [Name in OperationName]: { op: Name; input: InputOf<Name> } }[OperationName];

/** What became of a command. `breaking`: SQLite itself is in doubt, nothing may be written any more. */
export type CommandResult =
  | { ok: true; value: unknown }
  | { ok: false; code: ErrorCode; message: string; breaking: boolean };

/** Runs batches of commands, each batch in one durable transaction. */
export interface InboxDatabase {
  /** `ended`: leases whose work another connection of this process has settled since the batch before. */
  runBatch(commands: readonly Command[], ended: readonly Lease[]): CommandResult[];
}

/** All statements of one connection. The schema must be up to date. */
export function createInboxDatabase(db: Database): InboxDatabase {
  const pairs = new DirectPairs(db);
  const numbers = new EventNumbers(db);
  const operations = prepareOperations(db, pairs, numbers);
  const addDone = prepareAddDone(db);

  function runOne(command: Command): unknown {
    const operation = operations[command.op] as (input: Command["input"]) => unknown;
    return operation(command.input);
  }

  const runTogether = db.transaction((commands: readonly Command[]): CommandResult[] => {
    let done = 0;
    pairs.begin();
    numbers.begin();
    const results = commands.map((command): CommandResult => {
      // Whatever looks at the marks must find those of this batch.
      if (command.op !== "accept" && command.op !== "settle") pairs.flush();
      const value = runOne(command);
      if (command.op === "settle" && command.input.to === "done" && value === "settled") done += 1;
      return { ok: true, value };
    });
    pairs.flush();
    addDone(done);
    return results;
  });

  function attempt(commands: readonly Command[]): CommandResult[] | { failure: CommandResult & { ok: false } } {
    try {
      const results = runTogether.immediate(commands);
      pairs.committed();
      return results;
    } catch (error) {
      pairs.rolledBack();
      const { code, message } = asStoreError(
        error,
        commands
          .map((command) => command.op)
          .slice(0, 3)
          .join(", "),
      );
      return { failure: { ok: false, code, message, breaking: isBreaking(error) } };
    }
  }

  return {
    runBatch(commands, ended) {
      for (const lease of ended) pairs.forget(lease);
      const together = attempt(commands);
      if (Array.isArray(together)) return together;
      const { failure } = together;
      // One bad command must not take its neighbours with it; a locked, full or broken database fails them all alike.
      const isOfOneCommand = commands.length > 1 && !failure.breaking && !isOfDatabase(failure);
      if (!isOfOneCommand) return commands.map(() => failure);
      return commands.map((command) => {
        const alone = attempt([command]);
        return Array.isArray(alone) ? (alone[0] ?? failure) : alone.failure;
      });
    },
  };
}
