import type { InboxOperator } from "../inbox-operator.js";
import { operateByQueries } from "../operate-by-queries.js";
import type { PagePace } from "../query-runner.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import { eraseFromFile } from "./erase-from-file.js";
import { isOwned } from "./file-ownership.js";
import { type OutsideConnection, openOutsideConnection } from "./open-outside-connection.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";
import { runInFile } from "./run-in-file.js";

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

/**
 * Deliveries wait for the lock of a transaction, whose commit writes and syncs some pages for each row. Between two of
 * them a receiver that waits for the database gets it.
 */
const PACE: PagePace = { rows: 25, together: 1, heldMs: 3, pauseMs: 10, elapsed: () => performance.now() };

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
  /** Reads one snapshot, without a lock that a receiver would have to wait for. */
  const read = <Value>(query: () => Value): Promise<Value> => runBeside(db, "deferred", query);
  const write = <Value>(change: () => Value): Promise<Value> => runBeside(db, "immediate", change);

  return {
    database: file,
    ...operateByQueries({
      database: file,
      pace: PACE,
      read: (_doing, query) => read(() => runInFile(db, query())),
      readAt: (_doing, query) => read(() => runInFile(db, query(now()))),
      write: (_doing, query) => write(() => runInFile(db, query(now()))),
    }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    hasReceiver: async () => isOwned(file),
    erase: (options) => eraseFromFile({ file, connection, now }, options),
    backUp: (options) => backUpInboxFile({ file, ...options }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    close: async () => connection.close(),
  };
}
