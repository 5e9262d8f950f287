import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { Store } from "../store.js";
import { GroupCommit } from "./group-commit.js";
import { createInlineWriter } from "./inline-writer.js";
import { IN_MEMORY, migrate, openDatabase } from "./open-database.js";
import { Ownership } from "./ownership.js";
import { createThreadWriter } from "./thread-writer.js";
import { type UserCommit, createUserCommits } from "./user-transaction.js";

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

/** The inbox in one SQLite file. Your own tables may live in the same file. */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  const { file } = options;
  const ownership = file === IN_MEMORY ? undefined : new Ownership(file);
  const waitingCommits: UserCommit[] = [];
  let opened: OpenStore | undefined;
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

  return {
    async open() {
      if (opened !== undefined) return;
      opened = await openAll();
      runUserCommits = createUserCommits(opened.db);
    },
    async close() {
      const closing = opened;
      opened = undefined;
      await closing?.close();
      ownership?.give();
    },
    accept: (event) => run("accept", { ...event, body: withoutSpareBuffer(event.body) }, event.body.byteLength),
    lease: (request) => run("lease", request),
    renew: (leases, leaseUntil) => run("renew", { leases, leaseUntil }),
    release: (leases, now) => run("release", { leases, now }),
    settle: (settlement) => run("settle", settlement),
    commit: (settlement, fn) =>
      new Promise<void>((resolve, reject) => {
        waitingCommits.push({ settlement, fn, resolve, reject });
        if (waitingCommits.length > 1) return;
        try {
          current().commits.takeTurn(() => runUserCommits?.(waitingCommits.splice(0)));
        } catch (error) {
          for (const commit of waitingCommits.splice(0)) commit.reject(error);
        }
      }),
    async recover(now) {
      const wasHeld = ownership?.isHeld ?? false;
      if (ownership !== undefined && !ownership.take()) return { owner: false, recovered: 0, parked: 0 };
      return { owner: true, ...(await run("recover", { now, everything: !wasHeld && ownership !== undefined })) };
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
  };
}

/** A view into a much larger buffer would be copied to the thread with all of it. */
function withoutSpareBuffer(body: Uint8Array): Uint8Array {
  return body.buffer.byteLength > 2 * body.byteLength ? Uint8Array.prototype.slice.call(body) : body;
}
