import { resolve } from "node:path";
import { systemClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, callable, defineOptions, flag } from "../../base/options.js";
import { sleep as sleepBy } from "../../base/wait.js";
import type { CommitFunction, CommitTransaction, Finished, NotEnded } from "../commit-transaction.js";
import type { Store, StoreContext } from "../store.js";
import { BUSY_WAITS, whileBusy } from "../while-busy.js";
import { checkDriver } from "./check-driver.js";
import type { GroupCommit } from "./group-commit.js";
import { IN_MEMORY } from "./open-database.js";
import { describeFileLoss } from "./open-files.js";
import { type OpenStore, openStore } from "./open-store.js";
import { NO_SEND } from "./operations/outbox-send.js";
import { FileOperator } from "./file-operator.js";
import { FileOwnership } from "./file-ownership.js";
import { type Operating, OperatorThread, operateFrom, operateWhileOpen } from "./operator-in-thread.js";
import { readDiskUse } from "./read-disk-use.js";
import { prepareReopen } from "./reopen-store.js";

/** How often the store checks whether removed files are back. */
const REOPEN_WAIT_MS = 250;

/** The options of `createSqliteStore`; only `file` is required. `Result` is what `setup` returns, which is ignored. */
export interface SqliteStoreOptions<Result = Finished> {
  /** Path of the database file, or `:memory:`. Made with mode 0600 when it does not exist. */
  file: string;
  /**
   * Write from a thread of its own, and list, erase and back up from another, so that the event loop never waits for a
   * disk.
   * @default true for a file; `:memory:` has no thread
   */
  thread?: boolean | undefined;
  /**
   * Makes or migrates your own tables, each time the file is opened and before any handler runs. Synchronous, in one
   * transaction: if it throws, nothing is written, and `receiver.start()` rejects with what it threw, or with
   * `store_failed` for an error of SQLite. Names that begin with `inbox_` or `outbox_` belong to the store and are
   * refused with `invalid_argument`. @default none
   */
  setup?: CommitFunction<Result> | undefined;
}

/** The inbox in SQLite, with your own tables beside it. */
export interface SqliteStore extends Store {
  /**
   * Reads your own tables, on the connection that `ctx.commit` uses, and returns what `fn` returns. Synchronous; `db`
   * refuses writes, and is revoked when `fn` returns. Throws `stopped` while the store is not open, and `commit_async`
   * when `fn` returns a promise, a generator or an iterator.
   */
  read<Value>(fn: ReadFunction<Value>): Value;
}

/** Reads, and returns anything but a promise, a generator or an iterator. */
export type ReadFunction<Value> = (tx: CommitTransaction) => Value extends NotEnded ? never : Value;

/** The defaults and checks of {@link SqliteStoreOptions}. */
export const STORE_OPTIONS = defineOptions("createSqliteStore", {
  // Once: the process may change its folder later.
  file: { required: true, read: (_, file) => (file === IN_MEMORY ? file : resolve(String(file))) },
  thread: flag({ default: true }),
  setup: callable<CommitFunction<unknown>>(),
} satisfies OptionsOf<SqliteStoreOptions<unknown>>);

/**
 * The inbox in one SQLite file. Your own tables may live in the same file. Throws `driver_unusable` where Node and
 * better-sqlite3 do not fit.
 */
export function createSqliteStore<Result = Finished>(options: SqliteStoreOptions<Result>): SqliteStore;
export function createSqliteStore(options: SqliteStoreOptions<unknown>): SqliteStore {
  checkDriver();
  const given = STORE_OPTIONS.resolve(options);
  const ownership = given.file === IN_MEMORY ? undefined : new FileOwnership(given.file);
  const operating = given.thread ? new OperatorThread(given.file) : new FileOperator(given.file);
  let opened: OpenStore | undefined;
  /** Concurrent callers share one opening; a second connection and thread would never be closed. */
  let opening: Promise<void> | undefined;
  let closing = Promise.resolve();
  /** Opens removed files again; ends when this opening is closed. */
  let replacing = Promise.resolve();
  let closed = new AbortController();
  /** Whether the open writer has begun its epoch, or continues the one before. */
  let hasEpoch = false;
  /** Of this opening; undefined until it has taken the file over. */
  let lastEpoch: number | undefined;

  /** Waits for the end of the previous close, even if it fails: the file and its lock are free then. */
  async function openAfter(before: Promise<void>, context: StoreContext): Promise<void> {
    await before.catch(() => undefined);
    closed = new AbortController();
    use(await whileBusy(BUSY_WAITS.opening, () => openStore({ ...given, ...context })), context);
  }

  function use(open: OpenStore, context: StoreContext): void {
    opened = open;
    hasEpoch = false;
    void open.commits.broken.then(({ code, message }) => {
      context.onAlarm?.({ kind: "store_unavailable", code, message });
      if (code === "store_replaced" && opened === open) replacing = replace(open, context);
    });
  }

  /** Closes the connections to removed files, and continues with the database once it is back at its path. */
  async function replace(lost: OpenStore, context: StoreContext): Promise<void> {
    const { clock = systemClock } = context;
    const { signal } = closed;
    const wasOwner = ownership?.isOwner === true;
    ownership?.lose();
    await Promise.all([lost.abandon(), operating.end()]);
    const reopen = prepareReopen({ ...given, ...context, lost });
    while (opened === lost) {
      const found = await reopen();
      if (found === undefined) {
        await sleepBy(clock, REOPEN_WAIT_MS, signal).catch(() => undefined);
      } else if (opened === lost) {
        use(found, context);
        if (wasOwner) retake(ownership);
      } else {
        await found.close();
      }
    }
  }

  /** An opening in progress finishes before it is closed again. */
  async function closeAfter(openedOrNot: Promise<void>): Promise<void> {
    let open = opened;
    if (open === undefined) {
      await openedOrNot.catch(() => undefined);
      open = opened;
    }
    opened = undefined;
    closed.abort();
    lastEpoch = undefined;
    await Promise.all([replacing, operating.end()]);
    await open?.close().finally(() => ownership?.release());
  }

  function current(): OpenStore {
    if (opened !== undefined) return opened;
    throw notOpen();
  }
  const refuse = (): Promise<never> => Promise.reject(notOpen());
  const run: GroupCommit["run"] = (op, input) => opened?.commits.run(op, input) ?? refuse();

  return {
    ...commandsOf(run),
    open(context) {
      if (opening !== undefined) return opening;
      const mine = openAfter(closing, context);
      opening = mine;
      mine.catch(() => {
        if (opening === mine) opening = undefined;
      });
      return mine;
    },
    close() {
      if (opening !== undefined) {
        closing = closeAfter(opening);
        opening = undefined;
      }
      return closing;
    },
    accept: (event) => opened?.commits.accept(event) ?? refuse(),
    settle: (settlement) => opened?.commits.settle(settlement) ?? refuse(),
    commit: (given, fn) =>
      new Promise<void>((done, reject) => current().commit({ settlements: [given].flat(), fn, resolve: done, reject })),
    read: (fn) => current().read(fn),
    async recover(now) {
      // A closed store must not take the file from the next one.
      current();
      if (ownership !== undefined && !ownership.take()) return { owner: false, recovered: 0, parked: 0 };
      const everything = ownership !== undefined && lastEpoch === undefined;
      const given = { now, everything, takeOver: !hasEpoch, epoch: lastEpoch };
      const { epoch, recovered, parked } = await run("recover", given);
      hasEpoch = epoch !== undefined;
      // Another process has begun the next one, so the lock was lost unnoticed.
      if (!hasEpoch) ownership?.lose();
      lastEpoch = epoch ?? lastEpoch;
      return { owner: hasEpoch, recovered, parked };
    },
    leaseSend: (request) =>
      ownership?.isLost === true ? Promise.resolve(NO_SEND) : run("leaseSend", { ...request, epoch: lastEpoch }),
    ...fileOf(given.file, operating, current),
  };
}

/** The operations that the writer runs as they are asked for. */
function commandsOf(run: GroupCommit["run"]) {
  return {
    lease: (request) => run("lease", request),
    renew: (leases, leaseUntil) => run("renew", { leases, leaseUntil }),
    release: (leases, now) => run("release", { leases, now }),
    beginNewest: (lease, of, now) => run("beginNewest", { lease, of, now }),
    restartWaits: (limits) => run("restartWaits", limits),
    loadSteps: (work) => run("loadSteps", work),
    saveStep: (lease, name, value, at) => run("saveStep", { lease, name, value, at }),
    listStuck: (query) => run("listStuck", query),
    replan: (plan) => run("replan", plan),
    prune: (limits) => run("prune", limits),
    keepPolicies: (policies) => run("keepPolicies", policies),
    listPaused: () => run("listPaused", undefined),
    writeFigures: (write) => run("writeFigures", write),
    noteTimes: (times) => run("noteTimes", times),
    record: (events, now) => run("record", { events, now }),
    settleSend: (settlement) => run("settleSend", settlement),
  } satisfies Partial<Store>;
}

function fileOf(file: string, operating: Operating, current: () => OpenStore) {
  return {
    openOperator: (now) =>
      file === IN_MEMORY
        ? operateWhileOpen(() => current().operate(now))
        : operateFrom({ file, operating, now, checkOpen: () => checkFiles(current()) }),
    file: file === IN_MEMORY ? undefined : file,
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    readDiskUse: async () => readDiskUse(current().files),
  } satisfies Partial<Store>;
}

/** Throws `store_replaced` while the files are gone: an operator would work on what is at their paths instead. */
function checkFiles({ commits: { failure }, files }: OpenStore): void {
  if (failure?.code === "store_replaced") throw failure;
  if (files?.isAway === true) throw describeFileLoss(files.data.file, "database");
}

/** If this fails, the next check of this process or of another one takes over. */
function retake(ownership: FileOwnership | undefined): void {
  try {
    ownership?.take();
  } catch {
    // The next check reports the error.
  }
}

function notOpen(): PigeonholeError {
  return new PigeonholeError("stopped", "The store is not open; start the receiver first, or call open().");
}
