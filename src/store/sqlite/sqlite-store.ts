import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, callable, defineOptions, flag } from "../../base/options.js";
import type { CommitFunction, CommitTransaction, Finished, NotEnded } from "../commit-transaction.js";
import { restartAll } from "../queries/restart-waits.js";
import type { DiskUse } from "../figures.js";
import { notOpen } from "../opening-turns.js";
import type { Store } from "../store.js";
import { checkDriver } from "./check-driver.js";
import type { GroupCommit } from "./group-commit.js";
import { IN_MEMORY } from "./open-database.js";
import { type OpenFiles, describeFileLoss } from "./open-files.js";
import type { OpenStore } from "./open-store.js";
import { Openings } from "./openings.js";
import { NO_SEND } from "./prepare-operations.js";
import { FileOperator } from "./file-operator.js";
import { type Operating, OperatorThread, callOperator, operateBy } from "./operator-in-thread.js";

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
  const operating = given.thread ? new OperatorThread(given.file) : new FileOperator(given.file);
  const openings = new Openings(given, operating);
  const current = (): OpenStore => openings.current();
  const refuse = (): Promise<never> => Promise.reject(notOpen());
  const run: GroupCommit["run"] = (op, input) => openings.opened?.commits.run(op, input) ?? refuse();

  return {
    ...commandsOf(run),
    open: (context) => openings.open(context),
    close: () => openings.close(),
    accept: (event) => openings.opened?.commits.accept(event) ?? refuse(),
    settle: (settlement) => openings.opened?.commits.settle(settlement) ?? refuse(),
    commit: (given, fn) =>
      new Promise<void>((done, reject) => current().commit({ settlements: [given].flat(), fn, resolve: done, reject })),
    read: (fn) => current().read(fn),
    recover: (now) => openings.recover(now),
    leaseSend: (request) =>
      openings.isFileLost ? Promise.resolve(NO_SEND) : run("leaseSend", { ...request, epoch: openings.epoch }),
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
    reserveRuns: (request) => run("reserveRuns", request),
    restartWaits: (limits) => restartAll((after) => run("restartWaits", { ...limits, after })),
    loadSteps: (work) => run("loadSteps", work),
    saveStep: (lease, name, value, at) => run("saveStep", { lease, name, value, at }),
    listStuck: (query) => run("listStuck", query),
    replan: (plan) => run("replan", plan),
    prune: (limits) => run("prune", limits),
    keepPolicies: (policies) => run("keepPolicies", policies),
    listPaused: () => run("listPaused", undefined),
    writeFigures: (write) => run("writeFigures", write),
    noteTimes: (times) => run("noteTimes", times),
    record: (event, now) => run("record", { event, now }),
    settleSend: (settlement) => run("settleSend", settlement),
  } satisfies Partial<Store>;
}

function fileOf(file: string, operating: Operating, current: () => OpenStore) {
  return {
    openOperator: (now) =>
      operateBy(file, (given) =>
        file === IN_MEMORY
          ? callOperator(current().operate(now), given)
          : callFrom(checkFiles(current()), operating, { ...given, now: now() }),
      ),
    file: file === IN_MEMORY ? undefined : file,
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    readDiskUse: async () => readDiskUse(current().files),
  } satisfies Partial<Store>;
}

/** Throws `store_replaced` while the files are gone: an operator would work on what is at their paths instead. */
function checkFiles(open: OpenStore): OpenStore {
  const { commits, files } = open;
  if (commits.failure?.code === "store_replaced") throw commits.failure;
  if (files?.isAway === true) throw describeFileLoss(files.data.file, "database");
  return open;
}

/** Damage that an operator meets stops the store, as damage that the writer meets does. */
async function callFrom(open: OpenStore, operating: Operating, given: Parameters<Operating["call"]>[0]) {
  try {
    // Each receiver counts, and a thread takes 17 MB and 100 ms of CPU.
    const counted = given.method === "overview" ? await open.countShortBacklog(given.now) : undefined;
    return counted ?? (await operating.call(given));
  } catch (error) {
    if (error instanceof PigeonholeError && error.code === "store_corrupt") open.commits.break(error);
    throw error;
  }
}

/** The size of the database with its WAL, and what is free beside them; nothing is known of one in memory. */
async function readDiskUse(files: OpenFiles | undefined): Promise<DiskUse> {
  if (files === undefined) return { usedBytes: undefined, freeBytes: undefined };
  const { file, walPath } = files.data;
  const [sizes, disk] = await Promise.all([Promise.all([file, walPath].map(sizeOf)), statfs(dirname(walPath))]);
  return { usedBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: disk.bavail * disk.bsize };
}

/** 0 for a WAL that a store which closes has removed. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
