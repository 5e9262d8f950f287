import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction, CommitTransaction } from "../commit-transaction.js";
import type { InboxOperator, StoreOverview } from "../inbox-operator.js";
import type { StoreContext } from "../store.js";
import { tellDevServer } from "../tell-dev-server.js";
import { checkIntegrity } from "./check-integrity.js";
import { identify } from "./file-identity.js";
import { findFileLoss } from "./find-file-loss.js";
import { GroupCommit } from "./group-commit.js";
import { createInlineWriter } from "./writer.js";
import { makeDatabasePrivate } from "./make-private.js";
import { IN_MEMORY, migrate, openDatabase, openKeeper } from "./open-database.js";
import { type OpenFiles, checkNotEmptied, noteOpenFiles } from "./open-files.js";
import { operateFile } from "./open-inbox-file.js";
import { readOwnTables, setUpOwnTables } from "./own-tables.js";
import { runBeside } from "./open-outside-connection.js";
import { rewriteWal } from "./rewrite-wal.js";
import { ThreadWriter } from "./thread-writer.js";
import { type UserCommit, createUserCommits } from "./user-transaction.js";

/** All connections of one opening of a store. */
export interface OpenStore {
  readonly commits: GroupCommit;
  /** Undefined in memory. */
  readonly files: OpenFiles | undefined;
  /**
   * Runs the user's transaction in the next turn; in memory on the connection that writes, for a file on a second one.
   */
  commit(commit: UserCommit): void;
  /** Runs the user's function in a transaction that only reads. */
  read<Value>(fn: (tx: CommitTransaction) => Value): Value;
  /** The operator's view on the connection of the event loop: for a database in memory, which has no other one. */
  operate(now: () => number): InboxOperator;
  /** Counts a short backlog, which takes less than a millisecond; undefined for a long one. */
  countShortBacklog(now: number): Promise<StoreOverview | undefined>;
  /** Finishes started operations, and closes as SQLite does: the last connection empties the WAL and removes it. */
  close(): Promise<void>;
  /** Closes without touching the file system: the files at the paths may belong to another program by now. */
  abandon(): Promise<void>;
}

export interface OpenStoreOptions extends Pick<StoreContext, "logger" | "onAlarm"> {
  file: string;
  /** Writes from a thread of its own. */
  thread: boolean;
  /** Runs once the schema is up to date. */
  setup: CommitFunction<unknown> | undefined;
  /** The opening whose files were removed, when the same database is opened again. */
  lost?: OpenStore | undefined;
}

/** A changed mode does not end what is open. */
const WERE_OPEN =
  "Other users of this machine could open these files until now. Who still has one open can read it, or keep handlers from running by a lock on the -owner file. lsof shows them. If in doubt, stop all receivers of the database, remove its -owner file, and start again.";

export async function openStore(options: OpenStoreOptions): Promise<OpenStore> {
  const { file, thread: useThread, logger, onAlarm, setup, lost } = options;
  if (file === IN_MEMORY) {
    const db = openDatabase(file);
    migrate(db, file);
    if (setup !== undefined) setUpOwnTables(db, setup);
    return assemble({ db, files: undefined, keeper: undefined, useThread: false, onAlarm });
  }
  checkNotEmptied(file);
  const wereOpen = makeDatabasePrivate(file);
  if (wereOpen.length > 0) logger.warn({ files: wereOpen, advice: WERE_OPEN }, "files_were_open_to_others");
  const before = identify(file);
  const db = openDatabase(file);
  let keeper: Database | undefined;
  try {
    keeper = openKeeper(file);
    const files = noteOpenFiles(file, before);
    if (lost?.files?.data.locks !== undefined && files.data.locks === undefined) {
      throw new PigeonholeError(
        "store_replaced",
        `Another connection of this process keeps the old files of ${file} open.`,
      );
    }
    rewriteWal(db, file, files.data.walPath);
    checkIntegrity(db, file);
    migrate(db, file);
    if (setup !== undefined) setUpOwnTables(db, setup);
    tellDevServer(file);
    return await assemble({ db, files, keeper, useThread, onAlarm });
  } catch (error) {
    // An existing WAL belongs to the refused file, and may be all that is left of it.
    closeWithoutTrace(db, keeper);
    throw error;
  }
}

function closeWithoutTrace(db: Database, keeper: Database | undefined): void {
  db.close();
  keeper?.close();
}

interface Parts {
  db: Database;
  files: OpenFiles | undefined;
  /** Keeps every other close of this process from being the last one; see {@link openKeeper}. */
  keeper: Database | undefined;
  useThread: boolean;
  onAlarm: StoreContext["onAlarm"];
}

async function assemble({ db, files, keeper, useThread, onAlarm }: Parts): Promise<OpenStore> {
  const writer =
    useThread && files !== undefined ? await ThreadWriter.start(files, onAlarm) : createInlineWriter(db, files);
  const commits = new GroupCommit(writer);
  // The threads of the writer move the WAL into the database: here that would block the event loop.
  if (writer.isThread) db.pragma("wal_autocheckpoint = 0");
  const runUserCommits = createUserCommits({ db, files, onBreaking: (error) => commits.break(error) });
  const waiting: UserCommit[] = [];
  let ended: Promise<void> | undefined;

  function runWaiting(broken: PigeonholeError | undefined): boolean {
    if (broken === undefined) {
      const next = waiting.splice(0, waiting[0]?.isAlone === true ? 1 : waiting.length);
      waiting.unshift(...runUserCommits(next));
      return waiting.length > 0;
    }
    for (const commit of waiting.splice(0)) commit.reject(broken);
    return false;
  }

  async function end(inOrder: boolean): Promise<void> {
    await commits.finish(new PigeonholeError("stopped", "The store is closed."));
    // Only the connection that found the damage can know it, and no other one may write the WAL into the database.
    const isDamaged = commits.failure?.code === "store_corrupt";
    await writer.close();
    // The threads have ended: no checkpoint of theirs keeps this one from copying what is left in a removed WAL.
    const loss = files === undefined || isDamaged ? undefined : findFileLoss(db, files);
    // After a failure, all that is known to be left is in the WAL.
    if (inOrder && loss === undefined && commits.failure === undefined) keeper?.close();
    closeWithoutTrace(db, keeper);
  }

  return {
    commits,
    files,
    commit(commit) {
      if (waiting.length === 0) commits.takeTurn(runWaiting);
      waiting.push(commit);
    },
    read: (fn) => readOwnTables(db, fn),
    operate: (now) => operateHere(db, now),
    async countShortBacklog(now) {
      const isShort = await runBeside(db, "deferred", () => hasShortBacklog(db));
      return isShort ? operateHere(db, () => now).overview() : undefined;
    },
    close: () => (ended ??= end(true)),
    abandon: () => (ended ??= end(false)),
  };
}

function operateHere(db: Database, now: () => number): InboxOperator {
  return operateFile({ file: IN_MEMORY, connection: { db, keepsWal: true, close: () => undefined }, now });
}

/** Rows that a count looks at within a millisecond. */
const SHORT = 1_000;

/** Looks at so many rows of each kind at most, by their indexes. */
export function hasShortBacklog(db: Database): boolean {
  // One for each partial index: without them, all that was ever sent would be looked at.
  const open = [
    "inbox_work WHERE state <> 'done'",
    "outbox_event WHERE state = 'pending'",
    "outbox_event WHERE state = 'dead'",
  ];
  const counts = open.map((rows) => `(SELECT count(*) FROM (SELECT 1 FROM ${rows} LIMIT ${SHORT}))`);
  const select = db.prepare(`SELECT ${counts.join(" + ")}`);
  return Number(select.pluck().get()) < SHORT;
}
