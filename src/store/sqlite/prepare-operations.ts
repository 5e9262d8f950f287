import type { Database } from "better-sqlite3";
import { prepareCountPage } from "./operations/counts.js";
import { prepareErase } from "./operations/erase.js";
import { prepareKeepPolicies } from "./operations/keep-policies.js";
import {
  prepareHandlerTimes,
  prepareReadFigures,
  prepareReadStatuses,
  prepareWriteFigures,
} from "./operations/figures.js";
import { prepareInspect } from "./operations/inspect.js";
import { prepareFindIds, prepareIdsKnownSince } from "./operations/known-ids.js";
import { prepareLease, prepareRelease, prepareRenew } from "./operations/lease.js";
import {
  prepareCountOutbox,
  prepareDiscardOutbox,
  prepareListOutbox,
  prepareRetryOutbox,
} from "./operations/outbox-inspect.js";
import { prepareRecord } from "./operations/outbox-record.js";
import { prepareLeaseSendOfOwner } from "./operations/outbox-send.js";
import { prepareSettleSend } from "./operations/outbox-settle.js";
import { prepareListPaused } from "./operations/paused-handlers.js";
import { preparePrune } from "./operations/prune.js";
import { prepareRecover } from "./operations/recover.js";
import { prepareDiscard, prepareReplan } from "./operations/replan.js";
import { prepareRunEvent, prepareRunWork } from "./operations/run-now.js";
import { prepareListRequested, prepareRequestRetry } from "./operations/requested-retries.js";
import { prepareRestartWaits } from "./operations/restart-waits.js";
import { prepareSettle } from "./operations/settle.js";
import { prepareLoadSteps, prepareSaveStep } from "./operations/steps.js";
import { prepareNoteTimes } from "./operations/times.js";
import type { TakeTokens } from "./lease-token.js";
import { onFirstUse } from "./on-first-use.js";

/** The statements of every operation but accepting, which runs for every event and has its own form. */
export function prepareOperations(db: Database, takeTokens: TakeTokens) {
  return {
    settle: prepareSettle(db),
    lease: onFirstUse(() => prepareLease(db, takeTokens)),
    renew: onFirstUse(() => prepareRenew(db)),
    release: onFirstUse(() => prepareRelease(db)),
    recover: onFirstUse(() => prepareRecover(db)),
    restartWaits: onFirstUse(() => prepareRestartWaits(db)),
    loadSteps: onFirstUse(() => prepareLoadSteps(db)),
    saveStep: onFirstUse(() => prepareSaveStep(db)),
    list: onFirstUse(() => prepareInspect(db).list),
    get: onFirstUse(() => prepareInspect(db).get),
    findIds: onFirstUse(() => prepareFindIds(db)),
    idsKnownSince: onFirstUse(() => prepareIdsKnownSince(db)),
    listStuck: onFirstUse(() => prepareInspect(db).listStuck),
    replan: onFirstUse(() => prepareReplan(db)),
    requestRetry: onFirstUse(() => prepareRequestRetry(db)),
    listRequested: onFirstUse(() => prepareListRequested(db)),
    runEvent: onFirstUse(() => prepareRunEvent(db)),
    runWork: onFirstUse(() => prepareRunWork(db)),
    discard: onFirstUse(() => prepareDiscard(db)),
    erase: onFirstUse(() => prepareErase(db)),
    countPage: onFirstUse(() => prepareCountPage(db)),
    prune: onFirstUse(() => preparePrune(db)),
    keepPolicies: onFirstUse(() => prepareKeepPolicies(db)),
    handlerTimes: onFirstUse(() => prepareHandlerTimes(db)),
    listPaused: onFirstUse(() => prepareListPaused(db)),
    writeFigures: onFirstUse(() => prepareWriteFigures(db)),
    readFigures: onFirstUse(() => prepareReadFigures(db)),
    readStatuses: onFirstUse(() => prepareReadStatuses(db)),
    noteTimes: onFirstUse(() => prepareNoteTimes(db)),
    record: onFirstUse(() => prepareRecord(db)),
    leaseSend: onFirstUse(() => prepareLeaseSendOfOwner(db, takeTokens)),
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
