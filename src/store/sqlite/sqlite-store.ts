import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { Store } from "../store.js";
import { checkDriver } from "./check-driver.js";
import { GroupCommit } from "./group-commit.js";
import { createInlineWriter } from "./inline-writer.js";
import { IN_MEMORY, migrate, openDatabase } from "./open-database.js";
import { Ownership } from "./ownership.js";
import { createThreadWriter } from "./thread-writer.js";
import { type UserCommit, createUserCommits } from "./user-transaction.js";

/** Processes that start together meet while the first of them makes the file a WAL file, which SQLite does not wait for. */
const OPEN_TRIES = 8;
const OPEN_WAIT_MS = 100;

export interface SqliteStoreOptions {
  /** Path of the database file, or `:memory:`. Made with mode 0600 when it does not exist. */
  file: string;
  /**
   * Write from a thread of its own, so that the event loop never waits for a disk.
   * @default true for a file; `:memory:` has no thread
   */
  thread?: boolean;
}

interface OpenStore {
  commits: GroupCommit;
  /** Runs the user's transactions; the connection that writes in memory, a second one for a file. */
  db: Database;
  close(): Promise<void>;
}

/** The inbox in one SQLite file. Your own tables may live in the same file. Throws `driver_unusable` where Node and better-sqlite3 do not fit. */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  checkDriver();
  const { file } = options;
  const ownership = file === IN_MEMORY ? undefined : new Ownership(file);
  const waitingCommits: UserCommit[] = [];
  let opened: OpenStore | undefined;
  /** Callers that meet share one opening; a second connection and thread would never be closed. */
  let opening: Promise<void> | undefined;
  let closing = Promise.resolve();
  let hasTakenOver = false;
  let runUserCommits: ReturnType<typeof createUserCommits> | undefined;

  async function openAll(): Promise<OpenStore> {
    const db = openDatabase(file);
    try {
      migrate(db, file);
      const useThread = file !== IN_MEMORY && options.thread !== false;
      const writer = useThread ? await createThreadWriter(file) : createInlineWriter(db);
      const commits = new GroupCommit(writer);
      return {
        commits,
        db,
        async close() {
          await commits.finish(new PigeonholeError("stopped", "The store is closed."));
          await writer.close();
          db.close();
        },
      };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  async function openWhileBusy(): Promise<OpenStore> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await openAll();
      } catch (error) {
        if (!isPigeonholeError(error, "store_busy") || attempt === OPEN_TRIES) throw error;
      }
      await sleep(OPEN_WAIT_MS);
    }
  }

  /** The close before has its end first, whatever that is: the file and its lock are free then. */
  async function openAfter(closed: Promise<void>): Promise<void> {
    await closed.catch(() => undefined);
    const open = await openWhileBusy();
    opened = open;
    runUserCommits = createUserCommits(open.db, (error) => open.commits.break(error));
  }

  /** An opening under way comes to its end before it is undone. */
  async function closeAfter(openedOrNot: Promise<void>): Promise<void> {
    let open = opened;
    if (open === undefined) {
      await openedOrNot.catch(() => undefined);
      open = opened;
    }
    opened = undefined;
    hasTakenOver = false;
    await open?.close().finally(() => ownership?.give());
  }

  function current(): OpenStore {
    if (opened !== undefined) return opened;
    throw new PigeonholeError("stopped", "The store is not open; call open() first.");
  }

  const run: GroupCommit["run"] = (op, input, bytes) => {
    try {
      return current().commits.run(op, input, bytes);
    } catch (error) {
      return Promise.reject(error);
    }
  };

  function runWaitingCommits(broken: PigeonholeError | undefined): void {
    const commits = waitingCommits.splice(0);
    if (broken === undefined) runUserCommits?.(commits);
    else for (const commit of commits) commit.reject(broken);
  }

  return {
    open() {
      if (opening !== undefined) return opening;
      const mine = openAfter(closing);
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
    accept: (event) => run("accept", event, event.body.byteLength),
    lease: (request) => run("lease", request),
    renew: (leases, leaseUntil) => run("renew", { leases, leaseUntil }),
    release: (leases, now) => run("release", { leases, now }),
    settle: (settlement) => run("settle", settlement),
    commit: (settlement, fn) =>
      new Promise<void>((resolve, reject) => {
        const { commits } = current();
        if (waitingCommits.length === 0) commits.takeTurn(runWaitingCommits);
        waitingCommits.push({ settlement, fn, resolve, reject });
      }),
    async recover(now) {
      // A closed store must not take the file from the next one.
      current();
      if (ownership !== undefined && !ownership.take()) return { owner: false, recovered: 0, parked: 0 };
      const result = await run("recover", { now, everything: ownership !== undefined && !hasTakenOver });
      hasTakenOver = true;
      return { owner: true, ...result };
    },
    loadSteps: (work) => run("loadSteps", work),
    saveStep: (lease, name, value) => run("saveStep", { lease, name, value }),
    list: (query) => run("list", query),
    get: (id) => run("get", { id }),
    listStuck: (query) => run("listStuck", query),
    replan: (plan) => run("replan", plan),
    discard: (id, now) => run("discard", { id, now }),
    counts: (now) => run("counts", { now }),
    prune: (limits) => run("prune", limits),
    record: (events, now) => run("record", { events, now }),
    leaseSend: (request) => run("leaseSend", request),
    settleSend: (settlement) => run("settleSend", settlement),
    listOutbox: (query) => run("listOutbox", query),
    retryOutbox: (key, now) => run("retryOutbox", { key, now }),
    discardOutbox: (key, now) => run("discardOutbox", { key, now }),
    countOutbox: () => run("countOutbox", undefined),
  };
}
