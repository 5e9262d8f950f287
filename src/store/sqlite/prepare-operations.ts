import type { Database } from "better-sqlite3";
import { listStuck } from "../queries/events.js";
import { addFigures } from "../queries/figures.js";
import { writePolicies, listPaused } from "../queries/handlers.js";
import { noteTimes } from "../queries/known-ids.js";
import { beginNewest } from "../queries/newest.js";
import { reserveRuns } from "../queries/run-slots.js";
import type { StoreQuery } from "../queries/store-query.js";
import { leaseCall, settleCall } from "../queries/outbox-calls.js";
import { type PrunedTo, pruneBatch } from "../queries/prune.js";
import { recordContactEvent } from "../queries/contact-event-changes.js";
import { replanEvent } from "../queries/replan.js";
import { restartPage } from "../queries/restart-waits.js";
import { loadSteps, saveStep } from "../queries/steps.js";
import type { SendPage, SendRequest } from "../outbox.js";
import type { PruneLimits } from "../store.js";
import { prepareLease, releaseInFile, renewInFile, type TakeTokens } from "./operations/lease.js";
import { readEpoch, recoverInFile } from "./operations/recover.js";
import { prepareSettle } from "./operations/settle.js";
import { onFirstUse } from "./on-first-use.js";
import { runInFile } from "./run-in-file.js";

/** The statements of every operation but accepting, which runs for every event and has its own form. */
export function prepareOperations(db: Database, takeTokens: TakeTokens) {
  const running =
    <Input, Value>(query: (input: Input) => StoreQuery<Value>) =>
    (input: Input): Value =>
      runInFile(db, query(input));
  const reached: PrunedTo = new Map();
  return {
    settle: prepareSettle(db),
    lease: onFirstUse(() => prepareLease(db, takeTokens)),
    renew: running(renewInFile),
    release: running(releaseInFile),
    beginNewest: running(beginNewest),
    reserveRuns: running(reserveRuns),
    recover: running(recoverInFile),
    restartWaits: running(restartPage),
    loadSteps: running(loadSteps),
    saveStep: running(saveStep),
    listStuck: running(listStuck),
    replan: running(replanEvent),
    prune: running((limits: PruneLimits) => pruneBatch(limits, reached)),
    keepPolicies: running(writePolicies),
    listPaused: () => runInFile(db, listPaused()),
    writeFigures: running(addFigures),
    noteTimes: running(noteTimes),
    record: running(recordContactEvent),
    leaseSend: running(prepareLeaseSend(takeTokens)),
    settleSend: running(settleCall),
  };
}

/** A former owner makes no calls: the new owner could not know that it died in one, and leases of calls are long. */
export const NO_SEND: SendPage = { send: undefined, nextDueAt: undefined };

/** `epoch` is that of the process that asks; undefined if it has never taken the file over. */
function prepareLeaseSend(takeTokens: TakeTokens) {
  return function* ({ epoch, ...request }: SendRequest & { epoch: number | undefined }): StoreQuery<SendPage> {
    if (epoch !== undefined && epoch !== (yield* readEpoch())) return NO_SEND;
    return yield* leaseCall(request, { token: takeTokens(1) });
  };
}

type Operations = ReturnType<typeof prepareOperations>;
export type OperationName = keyof Operations;
export type InputOf<Name extends OperationName> = Parameters<Operations[Name]>[0];
export type ResultOf<Name extends OperationName> = ReturnType<Operations[Name]>;

/** A call of an operation that few events need, as data. */
export type OtherCommand = { [Name in OperationName]: { op: Name; input: InputOf<Name> } }[OperationName];
