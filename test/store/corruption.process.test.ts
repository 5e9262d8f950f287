import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import { storeTables } from "#pigeonhole/store/sqlite/check-integrity.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { startOwner } from "./children/child.js";
import { openFile } from "./open-file.js";
import { context, expectCode, newEvent } from "./conformance/new-event.js";
import { tempFile } from "../support/store-in.js";
import { operate } from "../support/operate.js";

const PAGE = 4096;

let file: string;

beforeEach(() => void (file = tempFile()));

/** A receiver's database with so many events, closed. */
function fill(events: number, bodyBytes = 200): void {
  const db = openDatabase(file);
  migrate(db, file);
  db.pragma("synchronous = OFF");
  const addEvent = db.prepare("INSERT INTO inbox_event VALUES (?, ?, 'email.sent', 0, 1, 1, 1, 1)");
  const addBody = db.prepare("INSERT INTO inbox_body (seq, body) VALUES (?, ?)");
  db.transaction(() => {
    for (let seq = 1; seq <= events; seq += 1) {
      addEvent.run(seq, `evt_${seq}`);
      addBody.run(seq, Buffer.alloc(bodyBytes, "x"));
    }
  })();
  db.close();
}

const rootOf = (name: string): number => {
  const db = new Database(file, { readonly: true });
  try {
    return Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").pluck().get(name));
  } finally {
    db.close();
  }
};

function overwrite(page: number, pages = 1): void {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(pages * PAGE, 0xa5), 0, pages * PAGE, (page - 1) * PAGE);
  closeSync(handle);
}

const pagesOf = (): number => statSync(file).size / PAGE;

const SMALL = 500;
/** Some 25 MB: too large to be looked at as a whole. */
const LARGE = 10_000;

test.each<[string, number, () => void, "store_corrupt" | "not_a_pigeonhole_database"]>([
  ["its beginning", SMALL, () => overwrite(1), "not_a_pigeonhole_database"],
  ["the root of a table", SMALL, () => overwrite(rootOf("inbox_event")), "store_corrupt"],
  ["a page in the middle", SMALL, () => overwrite(Math.floor(pagesOf() / 2)), "store_corrupt"],
  ["its end, which is cut off", SMALL, () => truncateSync(file, (pagesOf() - 3) * PAGE), "store_corrupt"],
  ["the root of a table of a large file", LARGE, () => overwrite(rootOf("inbox_work")), "store_corrupt"],
  ["the newest events of a large file", LARGE, () => overwrite(pagesOf() - 19, 20), "store_corrupt"],
  ["half of a large file, which is cut off", LARGE, () => truncateSync(file, (pagesOf() / 2) * PAGE), "store_corrupt"],
])(
  "a file that is damaged (%s) is refused at the start with what to do, and not changed",
  async (_, events, damage, code) => {
    fill(events, events === LARGE ? 2_200 : 200);
    damage();
    const before = readFileSync(file);
    const store = createSqliteStore({ file });
    const opening = store.open(context);
    await expectCode(opening, code);
    await expect(opening).rejects.toThrow(/pigeonhole inbox backup/);
    await store.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  },
);

test("the files that a crash left next to a damaged file are kept as well", async () => {
  fill(SMALL);
  await (await startOwner(file)).kill();
  overwrite(rootOf("outbox_event"));
  const [before, wal] = [readFileSync(file), readFileSync(`${file}-wal`)];
  expect(wal.length).toBeGreaterThan(0);
  const store = createSqliteStore({ file });
  await expectCode(store.open(context), "store_corrupt");
  await store.close();
  expect([readFileSync(file).equals(before), readFileSync(`${file}-wal`).equals(wal)]).toEqual([true, true]);
});

test("damage in a table of the user does not stop deliveries", async () => {
  fill(SMALL);
  const own = new Database(file);
  own.exec("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
  own.close();
  overwrite(rootOf("mine"));
  expect(await (await openFile(file)).accept(newEvent("new"))).toMatchObject({ kind: "stored" });
});

/**
 * Damages bodies from the middle of a large file, which the start does not look at. Returns the ids of events around
 * them.
 */
function damageBodies(): string[] {
  const db = new Database(file, { readonly: true });
  const seq = LARGE / 2;
  const leaves = db.prepare(
    "SELECT pageno FROM dbstat WHERE name = 'inbox_body' AND pagetype = 'leaf' LIMIT 1 OFFSET ?",
  );
  const page = Number(leaves.pluck().get(seq));
  db.close();
  overwrite(page);
  return Array.from({ length: 100 }, (_, index) => `evt_${seq - 50 + index}`);
}

test("damage that is found later stops the store, and nothing is acknowledged any more", async () => {
  fill(LARGE, 2_200);
  const ids = damageBodies();
  const store = await openFile(file);
  await store.accept(newEvent("before"));
  const met: unknown[] = [];
  for (const id of ids)
    await operate(store)
      .getEvent(id)
      .catch(({ code }: { code: string }) => met.push(code));
  expect(new Set(met)).toEqual(new Set(["store_corrupt"]));
  await expectCode(store.accept(newEvent("after")), "store_corrupt");
});

test("a store that meets damage beside a command that is wrong acknowledges nothing more", async () => {
  fill(LARGE, 2_200);
  const ids = damageBodies();
  const store = await openFile(file);
  const wrong = expectCode(store.listStuck({ limit: 1, afterSeq: 0, state: "lost" as "dead" }), "invalid_argument");
  const met = ids.map((id) =>
    operate(store)
      .getEvent(id)
      .catch(({ code }: { code: string }) => code),
  );
  await wrong;
  expect(await Promise.all(met)).toContain("store_corrupt");
  await expectCode(store.accept(newEvent("after")), "store_corrupt");
});

/** Tables of the user, without a primary key. */
const NAMED_LIKE_THE_STORES = [
  "CREATE TABLE inbox_notes (note TEXT)",
  "CREATE TABLE outbox_notes (note TEXT)",
  "CREATE VIRTUAL TABLE inbox_search USING fts5(text)",
];

test.each(["", ...NAMED_LIKE_THE_STORES])("a large file without damage is opened (%s)", async (ownTable) => {
  fill(LARGE, 2_200);
  const own = new Database(file);
  own.exec(ownTable);
  own.close();
  const store = await openFile(file);
  expect(await store.accept(newEvent("new"))).toMatchObject({ kind: "stored" });
  await store.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test("a start checks each table of the store, and no other one", () => {
  const db = openDatabase(file);
  expect(storeTables(db)).toEqual([]);
  migrate(db, file);
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  expect(storeTables(db)).toEqual(tables);
  db.exec(NAMED_LIKE_THE_STORES.join(";"));
  expect(storeTables(db)).toEqual(tables);
  db.close();
});
