import type { Database } from "better-sqlite3";
import type { FiguresReader } from "../figures.js";
import type { InboxOperator } from "../inbox-operator.js";
import { operateByQueries } from "../operate-by-queries.js";
import { countLists } from "../queries/count-lists.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import { runJobPageOfFile } from "./bulk-jobs-of-file.js";
import { changeDeadContactEvents } from "./dead-contact-events-of-file.js";
import { eraseFromFile } from "./erase-from-file.js";
import { isOwned } from "./file-ownership.js";
import { type OutsideConnection, openOutsideConnection } from "./open-outside-connection.js";
import { prepareCounts } from "./operations/counts.js";
import { prepareListErrorGroups } from "./operations/error-groups.js";
import { prepareHandlerTimes, prepareReadFigures, prepareReadStatuses } from "./operations/figures.js";
import { prepareCountOutbox, prepareDiscardOutbox, prepareRetryOutbox } from "./operations/outbox-change.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";
import { runInFile } from "./run-in-file.js";
import { changeStuckWorkOfFile } from "./stuck-work-of-file.js";
import { runWaitingWork } from "./waiting-work-of-file.js";
import { FILE_WORDS } from "./words.js";

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
  const counts = prepareCounts(db);
  const countOutbox = prepareCountOutbox(db);
  const listErrorGroups = prepareListErrorGroups(db);
  const retry = prepareRetryOutbox(db);
  const discard = prepareDiscardOutbox(db);
  /** Reads one snapshot, without a lock that a receiver would have to wait for. */
  const read = <Value>(query: () => Value): Promise<Value> => runBeside(db, "deferred", query);
  const write = <Value>(change: () => Value): Promise<Value> => runBeside(db, "immediate", change);

  return {
    database: file,
    ...operateByQueries({
      database: file,
      words: FILE_WORDS,
      read: (_doing, query) => read(() => runInFile(db, query())),
      readAt: (_doing, query) => read(() => runInFile(db, query(now()))),
      write: (_doing, query) => write(() => runInFile(db, query(now()))),
    }),
    overview: () => read(() => ({ events: counts({ now: now() }), contactEvents: countOutbox() })),
    countLists: () => read(() => runInFile(db, countLists(countOutbox()))),
    ...readFiguresOf(db, now),
    listErrorGroups: (query = {}) => read(() => listErrorGroups(query)),
    ...changeStuckWorkOfFile({ db, now }),
    runWork: runWaitingWork(db, now),
    runJobPage: runJobPageOfFile(db, now),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    hasReceiver: async () => isOwned(file),
    erase: (options) => eraseFromFile({ file, connection, now }, options),
    retryContactEvent: (key) => write(() => retry({ key, now: now() })),
    discardContactEvent: (key) => write(() => discard({ key, now: now() })),
    ...changeDeadContactEvents({ db, now }),
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
