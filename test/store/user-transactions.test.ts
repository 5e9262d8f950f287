import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import type { CommitTransaction } from "#pigeonhole/store/commit-transaction.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { expectCode, context, newEvent, settlements, T } from "./conformance/new-event.js";
import { acceptLeased, statesOf } from "./conformance/lease-page.js";
import { countWork } from "../support/operate.js";

// SQL of the user's that ends the transaction it was lent: refused for the one, without loss to those that share the
// transaction.

type Db = CommitTransaction["db"];

let file: string;
let store: Store;
let tests = 0;

// One store for all tests, as each store starts a thread: what one test leaves must not harm the next.
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "user-transactions-"));
  file = join(folder, "inbox.db");
  withFile((db) =>
    db.exec(`
      CREATE TABLE mine (text TEXT UNIQUE);
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      CREATE TABLE guarded (text TEXT);
      CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN SELECT RAISE(ROLLBACK, 'no'); END;`),
  );
  store = createSqliteStore({ file });
  await store.open(context);
  return async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

beforeEach(() => {
  tests += 1;
  withFile((db) =>
    db.exec("DELETE FROM mine; DELETE FROM child; DELETE FROM parent; INSERT INTO mine VALUES ('taken')"),
  );
});

function withFile<Result>(use: (db: Database.Database) => Result): Result {
  const db = new Database(file);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** An event of this test alone. */
const idOf = (name: string): string => `${tests} ${name}`;

const write = (db: Db, text: string): unknown => db.prepare("INSERT INTO mine (text) VALUES (?)").run(text);

/** Makes `change` and goes on as if it had gone well. */
const swallow = (change: () => unknown): void => {
  try {
    change();
  } catch {
    // The user does not look.
  }
};

const ENDINGS: [string, (db: Db) => unknown][] = [
  ["ROLLBACK", (db) => db.exec("ROLLBACK")],
  ["ROLLBACK with a write behind it", (db) => db.exec("ROLLBACK; INSERT INTO mine VALUES ('outside')")],
  ["ROLLBACK with a transaction behind it", (db) => db.exec("rollback;begin;INSERT INTO mine VALUES ('o');commit")],
  ["ROLLBACK with another transaction left open", (db) => db.exec("ROLLBACK; BEGIN; INSERT INTO mine VALUES ('o')")],
  ["COMMIT", (db) => db.exec("COMMIT")],
  ["COMMIT behind a comment", (db) => db.exec("SELECT 1; -- done\n/* and */ commit")],
  ["END, prepared", (db) => db.prepare("END TRANSACTION").run()],
  ["INSERT OR ROLLBACK", (db) => db.exec("INSERT OR ROLLBACK INTO mine VALUES ('taken')")],
  ["INSERT OR ROLLBACK, prepared", (db) => db.prepare("INSERT OR ROLLBACK INTO mine VALUES (?)").run("taken")],
  [
    "INSERT OR ROLLBACK … RETURNING",
    (db) => [...db.prepare("INSERT OR ROLLBACK INTO mine VALUES ('taken') RETURNING text").iterate()],
  ],
  ["a trigger's RAISE(ROLLBACK)", (db) => db.exec("INSERT INTO guarded VALUES ('x')")],
  ["ROLLBACK inside its own db.transaction()", (db) => db.transaction(() => db.exec("ROLLBACK"))()],
];

const mine = (): unknown[] =>
  withFile((db) => db.prepare("SELECT text FROM mine WHERE text <> 'taken' ORDER BY text").pluck().all());

async function leaseAll(...ids: string[]): Promise<Lease[]> {
  const leases = [];
  for (const id of ids) leases.push(await acceptLeased(store, idOf(id)));
  return leases;
}

describe.each(ENDINGS)("SQL that ends the transaction (%s)", (_, end) => {
  test.each([
    ["the error is thrown", false],
    ["the error is ignored", true],
  ])(
    "a commit that ends the transaction is refused, and the other commits take effect once (%s)",
    async (_, swallows) => {
      const before = await countWork(store, T);
      const leases = await leaseAll("a", "b", "c");
      const outcomes = leases.map((lease, index) =>
        store.commit(settlements.done(lease), ({ db }) => {
          write(db, `before ${index}`);
          if (index !== 1) return;
          if (swallows) swallow(() => end(db));
          else end(db);
          write(db, `after ${index}`);
        }),
      );
      await expectCode(outcomes[1] ?? expect.unreachable(), "transaction_ended");
      await Promise.all([outcomes[0], outcomes[2]]);
      expect(mine()).toEqual(["before 0", "before 2"]);
      expect([
        await statesOf(store, idOf("a")),
        await statesOf(store, idOf("b")),
        await statesOf(store, idOf("c")),
      ]).toEqual([{ h: "done" }, { h: "running" }, { h: "done" }]);
      expect(await countWork(store, T)).toMatchObject({ done: before.done + 2, running: before.running + 1 });
    },
  );

  test("SQL that ends the transaction leaves none of it usable, and the store continues", async () => {
    const [first, second] = await leaseAll("a", "b");
    const refused: unknown[] = [];
    const outcome = store.commit(settlements.done(first ?? expect.unreachable()), ({ db }) => {
      const kept = db.prepare("INSERT INTO mine (text) VALUES (?)");
      swallow(() => end(db));
      for (const use of [() => kept.run("x"), () => db.exec("SELECT 1"), () => db.prepare("SELECT 1"), () => db.name]) {
        try {
          use();
          refused.push("worked");
        } catch (error) {
          refused.push(isPigeonholeError(error) ? error.code : error);
        }
      }
      throw new Error("of the user's");
    });
    await expect(outcome).rejects.toThrow();
    expect(refused).toEqual(Array(4).fill("transaction_ended"));
    await store.commit(settlements.done(second ?? expect.unreachable()), ({ db }) => void write(db, "next"));
    expect(mine()).toEqual(["next"]);
  });
});

test("a commit that breaks a deferred foreign key fails alone, and each that is run again has a turn of its own", async () => {
  const names = ["a", "b", "c", "d"];
  const leases = await leaseAll(...names);
  const order: string[] = [];
  const outcomes = leases.map((lease, index) =>
    store.commit(settlements.done(lease), ({ db }) => {
      order.push(names[index] ?? expect.unreachable());
      write(db, `before ${index}`);
      if (order.length > names.length) setImmediate(() => order.push("the loop runs"));
      if (index === 1) db.exec("INSERT INTO child VALUES (99)");
    }),
  );
  await expectCode(outcomes[1] ?? expect.unreachable(), "store_failed");
  await Promise.all([outcomes[0], outcomes[2], outcomes[3]]);
  expect(mine()).toEqual(["before 0", "before 2", "before 3"]);
  const again = order.slice(names.length).filter((what, index, all) => what !== all[index - 1]);
  expect(again.filter((what) => what !== "the loop runs")).toEqual(names);
  expect(again.slice(0, 6)).toEqual(["a", "the loop runs", "b", "the loop runs", "c", "the loop runs"]);
});

test.each(["ROLLBACK", "COMMIT", 'ROLLBACK TO "\t_bs3.\t"', 'RELEASE "\t_bs3.\t"'])(
  "a commit that swallows the refusal of %s keeps nothing",
  async (sql) => {
    const [lease] = await leaseAll("a");
    const outcome = store.commit(settlements.done(lease ?? expect.unreachable()), ({ db }) => {
      write(db, "before");
      swallow(() => db.exec(sql));
    });
    await expectCode(outcome, "transaction_ended");
    expect(mine()).toEqual([]);
    expect(await statesOf(store, idOf("a"))).toEqual({ h: "running" });
  },
);

test("a commit of many pages leaves the WAL to the next batch", async () => {
  const [lease] = await leaseAll("a");
  let pages: unknown;
  await store.commit(settlements.done(lease ?? expect.unreachable()), ({ db }) => {
    pages = db.pragma("wal_autocheckpoint", { simple: true });
  });
  expect(pages).toBe(0);
});

test("db.transaction() and savepoints of the user are not taken for an end of the transaction", async () => {
  const [lease] = await leaseAll("a");
  await store.commit(settlements.done(lease ?? expect.unreachable()), ({ db }) => {
    db.transaction(() => write(db, "kept"))();
    swallow(() =>
      db.transaction(() => {
        write(db, "undone");
        throw new Error("no");
      })(),
    );
    db.exec("SAVEPOINT own; INSERT INTO mine VALUES ('also undone'); ROLLBACK TO own; RELEASE own");
    db.exec("INSERT INTO child VALUES (1); INSERT INTO parent VALUES (1)");
  });
  expect(mine()).toEqual(["kept"]);
});

test.each<[string, (db: Db) => unknown]>([
  ["closing the database", (db) => db.close()],
  ["PRAGMA defer_foreign_keys", (db) => db.exec("PRAGMA defer_foreign_keys = OFF")],
  ["PRAGMA query_only, by its method", (db) => db.pragma("query_only = ON")],
  ["PRAGMA locking_mode, prepared", (db) => db.prepare("PRAGMA main.locking_mode(EXCLUSIVE)").run()],
  ["PRAGMA user_version", (db) => db.exec("SELECT 1; PRAGMA user_version = 99")],
  ["PRAGMA query_only, explained", (db) => db.exec("EXPLAIN PRAGMA query_only = ON")],
  ["PRAGMA query_only, its plan explained", (db) => db.exec("explain /* */ query plan\nPRAGMA query_only = ON")],
  ["ATTACH", (db) => db.exec("ATTACH ':memory:' AS other")],
  ["DETACH", (db) => db.prepare("DETACH other").run()],
])("a change of the connection that all handlers share is refused: %s", async (_, change) => {
  const [bad, good] = [await acceptLeased(store, idOf("bad")), await acceptLeased(store, idOf("good"))];
  const refused = store.commit(settlements.done(bad), ({ db }) => {
    write(db, "of the bad one");
    change(db);
  });
  const kept = store.commit(settlements.done(good), ({ db }) => {
    write(db, "of the good one");
    expect(db.pragma("query_only", { simple: true })).toBe(0);
  });
  await expectCode(refused, "invalid_argument");
  await kept;
  await store.accept(newEvent(idOf("later")));
  expect(withFile((db) => db.prepare("SELECT text FROM mine").pluck().all())).toEqual(["taken", "of the good one"]);
});
