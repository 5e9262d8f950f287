import { realpathSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type EraseOptions, type ErasePage, type EraseRequest, eraseAll } from "../erase.js";
import type { InboxOperator, OperatorErasure } from "../inbox-operator.js";
import { operateByQueries } from "../operate-by-queries.js";
import { erasePage } from "../queries/erase.js";
import type { PagePace } from "../query-runner.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import { isOwned } from "./file-ownership.js";
import { IN_MEMORY } from "./open-database.js";
import { type OutsideConnection, openOutsideConnection, runBeside, tryWhileBusy } from "./open-outside-connection.js";
import { runInFile, overwriting } from "./run-in-file.js";

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

/** Between two pages that were written, so that a receiver which waits for the database gets it. */
const BETWEEN_PAGES_MS = 20;

/** Erases from a file beside its receiver. Pages without a mention are only read, which no receiver waits for. */
async function eraseFromFile(
  { file, connection, now }: OperatedFile,
  { email, dryRun = false }: EraseOptions,
): Promise<OperatorErasure> {
  const { db, keepsWal } = connection;
  const erase = (request: EraseRequest): ErasePage => overwriting(db, () => runInFile(db, erasePage(request)));
  const counts = await eraseAll(async (cursor) => {
    const request = { email, now: now(), cursor };
    const seen = await runBeside(db, "deferred", () => erase({ ...request, dryRun: true }));
    const isRead = dryRun || Object.values({ ...seen, next: 0 }).every((count) => count === 0);
    const page = isRead ? seen : await runBeside(db, "immediate", () => erase({ ...request, dryRun: false }));
    await sleep(isRead ? 0 : BETWEEN_PAGES_MS);
    return page;
  });
  if (dryRun || file === IN_MEMORY) return { ...counts, walLeft: null };
  // A WAL that was there before is not truncated: a receiver that has lost its locks looks like none. PASSIVE takes no
  // lock that a receiver waits for. The WAL of this connection alone is emptied, so that it keeps no old version for a
  // receiver that starts now.
  await tryWhileBusy(() => db.pragma(`wal_checkpoint(${keepsWal ? "PASSIVE" : "TRUNCATE"})`));
  return { ...counts, walLeft: findOldVersions(file) };
}

/**
 * Path of the WAL beside a database, which has old versions of changed pages; null where it is missing or empty.
 * It is there while a receiver runs, and after one crashed.
 */
function findOldVersions(file: string): string | null {
  const path = `${realpathSync(file)}-wal`;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 ? path : null;
}
