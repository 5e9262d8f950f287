import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { ErrorCode } from "#pigeonhole/base/error.js";
import { MIGRATIONS } from "#pigeonhole/store/sqlite/migrations.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import type { Store } from "#pigeonhole/store/store.js";
import { loadCopyOf } from "../simulation/load-copy.js";
import { startChild } from "./children/child.js";
import { expectCode, context, expectLease, newEvent, settlements, T } from "./conformance/new-event.js";
import { acceptLeased, statesOf } from "./conformance/lease-page.js";
import { newRecord } from "./conformance/new-record.js";
import { takeSend } from "./conformance/outbox-fixture.js";
import { openFile } from "./open-file.js";
import type { SqliteBuild } from "./sqlite/take-over.js";
import { makeFolder } from "../support/folder.js";
import { countWork, operate } from "../support/operate.js";

const APPLICATION_ID = 0x50474e48;

let folder: string;
let file: string;

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "inbox.db");
});

const openStore = ({ at = file, thread = true } = {}): Promise<Store> => openFile(at, { thread });

/** Looks into the file with a connection that has no settings of ours. */
function look<Result>(use: (db: Database.Database) => Result): Result {
  const db = new Database(file);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

test.each<[string, () => string, ErrorCode]>([
  ["in a folder that does not exist", () => join(folder, "missing", "inbox.db"), "store_failed"],
  ["that is a folder", () => folder, "store_failed"],
  [
    "that holds something else",
    () => {
      writeFileSync(file, "These are the notes of a user, and they are longer than the header of SQLite is.".repeat(9));
      return file;
    },
    "not_a_pigeonhole_database",
  ],
])("the path of a file %s is refused", async (_, path, code) => {
  const at = path();
  const before = existsSync(file) ? readFileSync(file) : undefined;
  await expectCode(openStore({ at }), code);
  expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
});

const settings = (db: Database.Database) =>
  ["journal_mode", "synchronous", "wal_autocheckpoint", "busy_timeout"].map((name) =>
    db.pragma(name, { simple: true }),
  );

test("a durable commit is set on every opening, because better-sqlite3 alone opens a WAL file less durably", () => {
  for (const opening of ["first", "second", "third"]) {
    const db = openDatabase(file);
    expect(settings(db), opening).toEqual(["wal", 2, 4000, 250]);
    db.exec("CREATE TABLE IF NOT EXISTS mine (x); INSERT INTO mine VALUES (1)");
    db.close();
  }
  expect(look((db) => db.pragma("synchronous", { simple: true }))).toBe(1);
});

test.each([true, false])(
  "a durable commit applies to the user's transactions too, in a re-opened file (thread: %s)",
  async (thread) => {
    await (await openStore({ thread })).close();
    const store = await openStore({ thread });
    let seen: unknown[] = [];
    await store.commit(settlements.done(await acceptLeased(store, "evt_1")), ({ db }) => {
      seen = [db.pragma("journal_mode", { simple: true }), db.pragma("synchronous", { simple: true })];
    });
    expect(seen).toEqual(["wal", 2]);
  },
);

test("the schema has our mark and its version", async () => {
  await openStore();
  expect(
    look((db) => [db.pragma("application_id", { simple: true }), db.pragma("user_version", { simple: true })]),
  ).toEqual([APPLICATION_ID, MIGRATIONS.length]);
});

test("a second step upgrades a filled file, which an older version then refuses and leaves as it is", async () => {
  const secondStep = {
    file: "store/sqlite/migrations.js",
    from: "`,\n];",
    to: "`,\n  `ALTER TABLE inbox_event ADD COLUMN next TEXT; UPDATE inbox_event SET next = 'old'`,\n];",
  };
  const changed = { name: "has a second step", changes: [secondStep] };
  const store = await openStore();
  await store.recover(T);
  const [done, failed, dead] = await Promise.all(["done", "failed", "dead"].map((id) => acceptLeased(store, id)));
  await store.settle(settlements.done(expectLease(done)));
  await store.settle({ ...settlements.pending(expectLease(failed)), stack: "it failed" });
  await store.settle(settlements.dead(expectLease(dead)));
  await acceptLeased(store, "in flight");
  await store.record(newRecord("key"), T);
  await store.close();

  const version = await loadCopyOf<SqliteBuild>(changed, "store/sqlite/sqlite-store.js");
  const next = version.createSqliteStore({ file, thread: false });
  onTestFinished(() => next.close());
  await next.open(context);
  expect(await next.recover(T)).toMatchObject({ owner: true, recovered: 1 });
  for (const [id, state] of Object.entries({
    done: "done",
    failed: "retrying",
    dead: "dead",
    "in flight": "pending",
  }))
    expect(await statesOf(next, id)).toEqual({ h: state });
  expect(await takeSend(next)).toMatchObject({ events: [{ seq: 1 }] });
  expect(await next.accept(newEvent("new"))).toMatchObject({ kind: "stored" });
  await next.close();
  const rows = look((db) => db.prepare("SELECT next, count(*) FROM inbox_event GROUP BY next").raw().all());
  expect(rows).toEqual([
    [null, 1],
    ["old", 4],
  ]);

  const bytes = readFileSync(file);
  await expectCode(openStore(), "schema_too_new");
  await expectCode(openInboxFile(file), "schema_too_new");
  expect(readFileSync(file)).toEqual(bytes);
});

test("the schema migrated twice is the same, with its rows", async () => {
  const store = await openStore();
  await store.accept(newEvent("evt_1"));
  const db = openDatabase(file);
  migrate(db, file);
  migrate(db, file);
  db.close();
  expect(await operate(store).getEvent("evt_1")).toMatchObject({ id: "evt_1" });
});

test("the schema is created once if several processes open the file at once", async () => {
  const children = Array.from({ length: 4 }, () => startChild("open-store", file));
  for (const child of children) expect(await child.line()).toBe("ready");
  for (const child of children) child.say("go");
  const lines = await Promise.all(children.map((child) => child.line()));
  await Promise.all(children.map((child) => child.kill()));
  expect(lines).toEqual(["open", "open", "open", "open"]);
});

test.each<[string, string, "not_a_pigeonhole_database" | "schema_too_new"]>([
  ["another program's mark", "PRAGMA application_id = 1", "not_a_pigeonhole_database"],
  ["another program's user_version", "PRAGMA user_version = 1", "not_a_pigeonhole_database"],
  ["another program's high user_version", "PRAGMA user_version = 900", "not_a_pigeonhole_database"],
  [
    "our mark and a newer version",
    `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 900`,
    "schema_too_new",
  ],
])("a file with %s is refused and not changed", async (_, sql, code) => {
  look((db) => db.exec(`CREATE TABLE mine (x); ${sql}`));
  const marks = () =>
    look((db) => [
      db.pragma("application_id", { simple: true }),
      db.pragma("user_version", { simple: true }),
      db.prepare("SELECT name FROM sqlite_schema").pluck().all(),
    ]);
  const before = marks();
  await expectCode(openStore(), code);
  expect(marks()).toEqual(before);
});

test("a file with other tables and no mark is shared", async () => {
  look((db) => db.exec("CREATE TABLE mine (x); INSERT INTO mine VALUES (7)"));
  const store = await openStore();
  let mine: unknown;
  await store.commit(settlements.done(await acceptLeased(store, "evt_1")), ({ db }) => {
    mine = db.prepare("SELECT x FROM mine").pluck().get();
  });
  expect(mine).toBe(7);
});

test.each([true, false])(
  "a command that cannot be run does not fail those next to it, and leaves nothing (thread: %s)",
  async (thread) => {
    const store = await openStore({ thread });
    const bad = [
      store.accept(newEvent("twice the same handler", { work: [{ handler: "h" }, { handler: "h" }] })),
      store.accept(newEvent("no type", { type: null as unknown as string })),
      store.accept(newEvent("no name", { work: [{ handler: "" }] })),
    ];
    const refused = expectCode(operate(store).listEvents({ limit: 0 }), "invalid_option");
    const good = ["a", "b", "c"].map((id) => store.accept(newEvent(id)));
    for (const outcome of bad) await expectCode(outcome, "store_failed");
    await refused;
    expect(await Promise.all(good)).toMatchObject([{ kind: "stored" }, { kind: "stored" }, { kind: "stored" }]);
    expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(await store.accept(newEvent("no type"))).toMatchObject({ kind: "stored" });
  },
);

test("a command whose argument cannot be sent to the thread is refused alone, and the store continues", async () => {
  const store = await openStore();
  const good = store.accept(newEvent("a"));
  const type = Symbol("no text") as unknown as string;
  await expectCode(operate(store).listEvents({ type }), "invalid_argument");
  await expectCode(Promise.all([store.accept(newEvent("b")), operate(store).listEvents({ type })]), "invalid_argument");
  expect(await good).toMatchObject({ kind: "stored" });
  expect(await operate(store).getEvent("b")).toMatchObject({ id: "b" });
});

test("a command that cannot be run does not count what is settled next to it twice", async () => {
  const store = await openStore();
  const lease = await acceptLeased(store, "evt_1");
  const [settled, refused] = await Promise.allSettled([
    store.settle(settlements.done(lease)),
    operate(store).listEvents({ cursor: "no cursor" }),
  ]);
  expect([settled.status, refused.status]).toEqual(["fulfilled", "rejected"]);
  expect(await countWork(store, T)).toMatchObject({ done: 1 });
});

test("databases in memory share nothing", async () => {
  const [one, two] = [await openStore({ at: ":memory:" }), await openStore({ at: ":memory:" })];
  await one.accept(newEvent("evt_1"));
  expect(await operate(two).getEvent("evt_1")).toBeUndefined();
  expect([await one.recover(T), await two.recover(T)]).toMatchObject([{ owner: true }, { owner: true }]);
});

test("a lock file that cannot be created is an error, and does not mean another owner", async () => {
  mkdirSync(`${file}-owner`);
  const store = await openStore();
  await expectCode(store.recover(T), "store_failed");
});
