import { join } from "node:path";
import type * as sqlite from "#pigeonhole/store/sqlite/sqlite-store.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { CommitTransaction } from "#pigeonhole/store/commit-transaction.js";
import Database from "better-sqlite3";
import { settlements } from "./conformance/new-event.js";
import { acceptLeased } from "./conformance/lease-page.js";
import { type StoreKind, type StoreUnderTest } from "./conformance/fixture.js";
import { FAULTS_IN_FILE } from "./layout-faults.js";
import { makeFolder } from "../support/folder.js";
import { MEMORY_DISK } from "../support/memory-disk.js";
import { readRows } from "../support/inbox-file.js";
import { operate } from "../support/operate.js";

type SqliteKind = StoreKind<CommitTransaction>;

const SQLITE = {
  page: 25,
  outlives: true,
  isShared: false,
  hasAsyncCommit: false,
  lateUses: lateUses(),
} satisfies Partial<SqliteKind>;

export const MEMORY: SqliteKind = { ...SQLITE, name: "SQLite in memory", create: createInMemory, outlives: false };
export const FILE_WITH_THREAD = onFile("a file, with a writer thread", (file) => createSqliteStore({ file }));
export const FILE_WITHOUT_THREAD = fileOf({ createSqliteStore });

/** A file without a thread, of a build of the package. */
export function fileOf(build: Pick<typeof sqlite, "createSqliteStore">): SqliteKind {
  return onFile("a file, without a thread", (file) => build.createSqliteStore({ file, thread: false }));
}

function onFile(where: string, createStore: (file: string) => Store): SqliteKind {
  return { ...SQLITE, name: `SQLite in ${where}`, create: () => createOnFile(createStore) };
}

function write(tx: CommitTransaction, text: string): void {
  tx.db.exec("CREATE TABLE IF NOT EXISTS written (text TEXT)");
  tx.db.prepare("INSERT INTO written (text) VALUES (?)").run(text);
}

function read(db: Database.Database): string[] {
  const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'written'").get() !== undefined;
  return exists ? db.prepare<[], string>("SELECT text FROM written ORDER BY rowid").pluck().all() : [];
}

function createOnFile(createStore: (file: string) => Store): StoreUnderTest<CommitTransaction> {
  const file = join(makeFolder(MEMORY_DISK), "inbox.db");
  return {
    store: createStore(file),
    another: () => createStore(file),
    place: file,
    async execute(sql) {
      const db = new Database(file);
      db.exec(sql.replaceAll("pigeonhole.", "")).close();
    },
    write,
    async written() {
      const db = new Database(file, { readonly: true });
      try {
        return read(db);
      } finally {
        db.close();
      }
    },
    faults: () => Promise.resolve(readRows(file, FAULTS_IN_FILE)),
    dispose: () => undefined,
  };
}

function createInMemory(): StoreUnderTest<CommitTransaction> {
  const store = createSqliteStore({ file: ":memory:" });
  return {
    store,
    write,
    async written() {
      let rows: string[] = [];
      const notMine = new Error("only reading");
      const lease = await acceptLeased(store, "reader", { work: [{ handler: "reader", leaseUntil: 0 }] });
      await store
        .commit(settlements.done(lease), ({ db }) => {
          rows = read(db);
          throw notMine;
        })
        .catch((error: unknown) => {
          if (error !== notMine) throw error;
        });
      await store.release([lease], 0);
      await operate(store, 0).changeEvent("discard", "reader");
      return rows;
    },
    dispose: () => undefined,
  };
}

function lateUses(): SqliteKind["lateUses"] {
  const uses: Record<string, (db: Database.Database) => () => unknown> = {
    "a kept tx.db": (db) => () => db.exec("DELETE FROM written"),
    "prepare of a kept tx.db": (db) => () => db.prepare("SELECT 1"),
    "a property of a kept tx.db": (db) => () => db.name,
    "a method taken from tx.db": (db) => db.pragma.bind(db, "user_version"),
    "a statement": (db) => keepCall(db.prepare("DELETE FROM written"), "run"),
    "a statement that was set up": (db) => keepCall(db.prepare("SELECT * FROM written").pluck().raw(false), "all"),
    "a statement's database": (db) => keepDatabase(db.prepare("SELECT 1").database),
    "a transaction function": (db) => db.transaction(() => undefined),
    "a transaction function's variant": (db) => keepVariant(db.transaction(() => undefined)),
    "a transaction function's database": (db) => keepDatabase(databaseOf(db.transaction(() => undefined))),
    "rows that were begun": (db) => keepRows(db, true),
    "rows that were not begun": (db) => keepRows(db, false),
  };
  const ofDatabase = Object.entries(uses).map(([name, use]) => ({
    name,
    keep: ({ db }: CommitTransaction) => use(db),
  }));
  return [{ name: "tx.db", keep: (tx) => () => tx.db }, ...ofDatabase];
}

function keepCall(statement: Database.Statement, method: "run" | "all"): () => unknown {
  return () => statement[method]();
}

function keepDatabase(db: Database.Database): () => unknown {
  return () => db.exec("DELETE FROM written");
}

function keepVariant(fn: Database.Transaction<() => void>): () => unknown {
  const { immediate } = fn as { immediate: () => void };
  return immediate;
}

function databaseOf(fn: unknown): Database.Database {
  return (fn as { database: Database.Database }).database;
}

/** An iterator that is left unfinished keeps SQLite from ending the transaction. */
function keepRows(db: Database.Database, begun: boolean): () => unknown {
  const rows = db.prepare("SELECT text FROM written UNION ALL SELECT 'another'").iterate();
  if (begun) rows.next();
  return () => rows.next();
}
