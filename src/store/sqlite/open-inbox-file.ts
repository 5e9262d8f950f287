import type { Database } from "better-sqlite3";
import { type EventDetail, bodyOf, foundEvent } from "../inbox-view.js";
import { eraseFromFile } from "./erase-from-file.js";
import { type OutsideConnection, openOutsideConnection } from "./open-outside-connection.js";
import { prepareCountLists } from "./operations/count-lists.js";
import { prepareCounts } from "./operations/counts.js";
import { prepareHandlerTimes, prepareReadFigures, prepareReadStatuses } from "./operations/figures.js";
import { prepareInspect } from "./operations/inspect.js";
import { prepareFindIds, prepareIdsKnownSince } from "./operations/known-ids.js";
import type { FiguresReader } from "../figures.js";
import type { KnownIds } from "../known-ids.js";
import type { OutboxQuery } from "../outbox.js";
import type { InboxOperator, OperatorRetry } from "../inbox-operator.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import {
  prepareCountOutbox,
  prepareDiscardOutbox,
  prepareGetContactEvent,
  prepareListOutbox,
  prepareRetryOutbox,
} from "./operations/outbox-inspect.js";
import { prepareReadBodies } from "./operations/read-bodies.js";
import { prepareReadCalls } from "./operations/read-calls.js";
import { prepareDiscard, prepareReplan } from "./operations/replan.js";
import { prepareRequestReading, prepareRequestRetry } from "./operations/requested-retries.js";
import { runWaitingWork } from "./waiting-work-of-file.js";
import { changeDeadContactEvents } from "./dead-contact-events-of-file.js";
import { operateJobs } from "./bulk-jobs-of-file.js";
import { operateForDashboard } from "./dashboard-of-file.js";
import { isOwned } from "./file-ownership.js";
import { changeStuckWork } from "./stuck-work-of-file.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";

/**
 * Opens the database file of a receiver to list, retry and discard its events. Rejects with `invalid_argument` for a
 * missing file or an old schema, `not_a_pigeonhole_database` and `schema_too_new`; none of them changes the file.
 */
export async function openInboxFile(
  file: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<InboxOperator> {
  const connection = await tryWhileBusy(() => openOutsideConnection(file));
  return operateFile({ file, connection, now });
}

/** A database to operate on. */
export interface OperatedFile {
  /** Its path, for messages. */
  file: string;
  connection: OutsideConnection;
  now: () => number;
}

/** The operator's view through a connection, which the view closes with itself. */
export function operateFile({ file, connection, now }: OperatedFile): InboxOperator {
  const { db } = connection;
  const { list, get } = prepareInspect(db);
  const counts = prepareCounts(db);
  const countOutbox = prepareCountOutbox(db);
  const replan = prepareReplan(db);
  const requestRetry = prepareRequestRetry(db);
  const requestReading = prepareRequestReading(db);
  const discard = prepareDiscard(db);

  /** Reads one snapshot, without a lock that a receiver would have to wait for. */
  const read = <Value>(query: () => Value): Promise<Value> => runBeside(db, "deferred", query);
  const write = <Value>(change: () => Value): Promise<Value> => runBeside(db, "immediate", change);

  const mustGet = (id: string): EventDetail => foundEvent(get({ id }), id, file);

  /** Only the app knows the schemas and handlers to read an event with that was not understood. */
  function retryStored({ seq, handlers }: EventDetail): OperatorRetry {
    if (handlers.length === 0) return { handlers: 0, readAgain: Number(requestReading({ seq, now: now() })) };
    const stuck = handlers.filter(({ state }) => state === "dead" || state === "parked");
    if (stuck.some(({ handler }) => handler === NOTE_HANDLER)) {
      return { handlers: 0, readAgain: Number(requestRetry({ seq, now: now() })) };
    }
    return { handlers: stuck.length === 0 ? 0 : replan({ seq, handlers: [], now: now() }), readAgain: 0 };
  }

  return {
    database: file,
    overview: () => read(() => ({ events: counts({ now: now() }), contactEvents: countOutbox() })),
    countLists: () => read(prepareCountLists(db)),
    ...readFiguresOf(db, now),
    ...readKnownIds(db),
    listEvents: (query = {}) => read(() => list(query)),
    getEvent: (id) => read(() => get({ id })),
    readBodies: (query) => read(() => prepareReadBodies(db)(query)),
    retryEvent: (id) =>
      write(() => {
        const event = mustGet(id);
        bodyOf(event);
        return retryStored(event);
      }),
    ...changeStuckWork({ db, now }),
    ...runWaitingWork({ db, now, mustGet }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    hasReceiver: async () => isOwned(file),
    discardEvent: (id) =>
      write(() => {
        mustGet(id);
        return discard({ id, now: now() });
      }),
    ...operateJobs({ db, now }),
    ...operateForDashboard({ db, now }),
    erase: (options) => eraseFromFile({ file, connection, now }, options),
    ...operateContactEvents({ db, now }),
    backUp: (options) => backUpInboxFile({ file, ...options }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    close: async () => connection.close(),
  };
}

function readFiguresOf(db: Database, now: () => number): FiguresReader & Pick<InboxOperator, "handlerTimes"> {
  return {
    handlerTimes: (query = {}) => runBeside(db, "deferred", () => prepareHandlerTimes(db)(query)),
    readFigures: (range) => runBeside(db, "deferred", () => prepareReadFigures(db)({ range, now: now() })),
    readStatuses: () => runBeside(db, "deferred", prepareReadStatuses(db)),
  };
}

function readKnownIds(db: Database): KnownIds {
  return {
    findIds: (ids) => runBeside(db, "deferred", () => prepareFindIds(db)(ids)),
    idsKnownSince: () => runBeside(db, "deferred", prepareIdsKnownSince(db)),
  };
}

function operateContactEvents({ db, now }: { db: Database; now: () => number }) {
  const list = prepareListOutbox(db);
  const get = prepareGetContactEvent(db);
  const retry = prepareRetryOutbox(db);
  const discard = prepareDiscardOutbox(db);
  return {
    listContactEvents: (query: OutboxQuery = {}) => runBeside(db, "deferred", () => list(query)),
    getContactEvent: (key: string) => runBeside(db, "deferred", () => get({ key })),
    readCalls: (query: { seqs: readonly number[] }) => runBeside(db, "deferred", () => prepareReadCalls(db)(query)),
    retryContactEvent: (key: string) => runBeside(db, "immediate", () => retry({ key, now: now() })),
    discardContactEvent: (key: string) => runBeside(db, "immediate", () => discard({ key, now: now() })),
    ...changeDeadContactEvents({ db, now }),
  };
}
