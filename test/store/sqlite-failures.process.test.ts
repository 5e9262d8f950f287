import { execFileSync } from "node:child_process";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store } from "#pigeonhole/store/store.js";
import { childFile, startChild } from "./children/child.js";
import { expectCode, context, newEvent, settlements } from "./conformance/new-event.js";
import { acceptLeased, snapshot, statesOf } from "./conformance/lease-page.js";
import { tempFile } from "../support/store-in.js";
import { operate } from "../support/operate.js";

const MEGABYTE = 1024 * 1024;

let file: string;
let store: Store;

beforeEach(() => void (file = tempFile()));

afterEach(async () => {
  await store.close();
});

async function openStore(thread: boolean): Promise<void> {
  store = createSqliteStore({ file, thread });
  await store.open(context);
}

describe("while another process holds the database", () => {
  let began: EventLoopUtilization;

  beforeEach(async () => {
    await openStore(true);
    await store.accept(newEvent("before"));
  });

  /** How much of the time since `began` the event loop was not waiting for something to do. */
  const busyPart = (): number => performance.eventLoopUtilization(began).utilization;

  test("a delivery waits, and is stored once the other process releases the lock, and the event loop continues", async () => {
    const holder = startChild("hold-lock", file, "400");
    expect(await holder.line()).toBe("held");
    began = performance.eventLoopUtilization();
    const accepted = ["a", "b", "c"].map((id) => store.accept(newEvent(id)));
    expect(await Promise.all(accepted)).toMatchObject([{ kind: "stored" }, { kind: "stored" }, { kind: "stored" }]);
    expect(busyPart()).toBeLessThan(0.5);
    expect(await holder.line()).toBe("released");
    await holder.kill();
    expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["c", "b", "a", "before"]);
  });

  test("a delivery is refused as busy if the lock is held on, and can be accepted afterwards", async () => {
    const holder = startChild("hold-lock", file);
    expect(await holder.line()).toBe("held");
    began = performance.eventLoopUtilization();
    const accepted = ["a", "b", "c"].map((id) => store.accept(newEvent(id)));
    for (const outcome of accepted) await expectCode(outcome, "store_busy");
    expect(busyPart()).toBeLessThan(0.5);
    holder.say("release");
    expect(await holder.line()).toBe("released");
    await holder.kill();
    expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["before"]);
    expect(await store.accept(newEvent("a"))).toMatchObject({ kind: "stored" });
  });

  test("a commit is refused as busy before its function is called, and can be made afterwards", async () => {
    const lease = await acceptLeased(store, "evt_1");
    const holder = startChild("hold-lock", file);
    expect(await holder.line()).toBe("held");
    await expectCode(
      store.commit(settlements.done(lease), () => expect.unreachable()),
      "store_busy",
    );
    await holder.kill();
    await store.commit(settlements.done(lease), () => undefined);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
  });
});

test("a store opens although another process holds the file for longer than one try", async () => {
  new Database(file).exec("CREATE TABLE mine (x)").close();
  const holder = startChild("hold-lock", file, "600");
  expect(await holder.line()).toBe("held");
  await openStore(true);
  await holder.kill();
  expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
});

let writing: Database.Database | undefined;

/** Opens the store, and notes the connection that writes. */
async function openNoted(at: string): Promise<void> {
  const pragma = vi.spyOn(Database.prototype, "pragma");
  store = createSqliteStore({ file: at, thread: false });
  await store.open(context);
  const connections = pragma.mock.contexts as Database.Database[];
  writing = connections.find(({ name, readonly }) => name === at && !readonly);
  pragma.mockRestore();
}

describe("a full database", () => {
  const limitPages = (pages: number): void => expect(writing?.pragma(`max_page_count = ${pages}`)).toBeDefined();

  test.each(["file", "memory"])(
    "a full database refuses what has no room, keeps what it has, and continues when there is room (%s)",
    async (where) => {
      await openNoted(where === "memory" ? ":memory:" : file);
      limitPages(60);
      const before = await snapshot(store);
      const large = store.accept(newEvent("large", { body: Buffer.alloc(MEGABYTE) }));
      const beside = store.accept(newEvent("beside"));
      await expectCode(large, "store_full");
      await expectCode(beside, "store_full");
      expect(await snapshot(store)).toEqual(before);

      expect(await store.accept(newEvent("small"))).toMatchObject({ kind: "stored" });
      limitPages(1_000_000);
      expect(await store.accept(newEvent("large", { body: Buffer.alloc(MEGABYTE) }))).toMatchObject({ kind: "stored" });
    },
  );

  test("a full database fails all commits of one turn, and none of them is written", async () => {
    await openNoted(file);
    const leases = [];
    for (const id of ["a", "b", "c"]) leases.push(await acceptLeased(store, id));
    limitPages(60);
    const before = await snapshot(store);
    const outcomes = leases.map((lease, index) =>
      store.commit(settlements.done(lease), ({ db }) => {
        db.exec("CREATE TABLE IF NOT EXISTS mine (x)");
        if (index === 1) db.prepare("INSERT INTO mine VALUES (?)").run(Buffer.alloc(MEGABYTE));
      }),
    );
    for (const outcome of outcomes) await expectCode(outcome, "store_full");
    expect(await snapshot(store)).toEqual(before);
    for (const lease of leases) await store.commit(settlements.done(lease), () => undefined);
  });
});

test("a database that takes no more writes keeps what it has, and the store takes nothing more", async () => {
  await openNoted(file);
  await store.accept(newEvent("before"));
  // SQLite's own error of a file system that has become read-only.
  writing?.pragma("query_only = ON");
  await expect(store.accept(newEvent("a"))).rejects.toThrow(/SQLITE_READONLY/);
  writing?.pragma("query_only = OFF");
  await expect(store.accept(newEvent("b"))).rejects.toThrow(/fix the disk/);
  const db = new Database(file);
  expect(db.prepare("SELECT id FROM inbox_event").pluck().all()).toEqual(["before"]);
  db.close();
});

describe("a disk that fails", () => {
  // No file may grow past the limit, so that a write to it ends in an I/O error. Only a process of its own can have the
  // limit.
  beforeEach(() => {
    store = createSqliteStore({ file });
  });

  function runOnBadDisk(scenario: string): Record<string, string> {
    const script = 'ulimit -f 4096 && exec "$0" "$@"';
    const printed = execFileSync("bash", ["-c", script, process.execPath, childFile("fail-disk"), scenario, file]);
    return JSON.parse(printed.toString()) as Record<string, string>;
  }

  /** Ids in the file, read by a process that has no limit. */
  function storedIds(): string[] {
    const db = new Database(file);
    try {
      expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
      return db.prepare<[], string>("SELECT id FROM inbox_event ORDER BY seq").pluck().all();
    } finally {
      db.close();
    }
  }

  test("a disk that fails keeps everything that was acknowledged, and nothing is acknowledged any more", () => {
    const outcomes = runOnBadDisk("fill");
    const acknowledged = Object.keys(outcomes).filter((id) => outcomes[id] === "resolved");
    const refused = Object.keys(outcomes).filter((id) => outcomes[id] !== "resolved");
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(refused).toHaveLength(3);
    for (const id of refused)
      expect(outcomes[id]).toMatch(
        /^store_failed accept failed: SQLITE_IOERR.*fix the disk|^store_failed .*SQLITE_IOERR/s,
      );
    expect(storedIds()).toEqual(["first", ...acknowledged]);
  });

  test("a disk that fails ends the next batch and the next commit as well", () => {
    const outcomes = runOnBadDisk("waiting");
    expect(Object.keys(outcomes).toSorted()).toEqual(["commit", "large", "later", "small"]);
    for (const outcome of Object.values(outcomes)) expect(outcome).toMatch(/^store_failed .*SQLITE_IOERR/);
    expect(storedIds()).toEqual(["first"]);
  });

  test("a disk that fails during a commit ends the deliveries as well", () => {
    const outcomes = runOnBadDisk("commit");
    expect(outcomes).toEqual({
      commit: expect.stringMatching(/^store_failed ctx\.commit failed: SQLITE_IOERR/),
      later: expect.stringMatching(/^store_failed .*fix the disk/),
    });
    expect(storedIds()).toEqual(["first"]);
  });
});

test("a process without a free file handle takes events all the same, and keeps its files open", () => {
  store = createSqliteStore({ file });
  const script = 'ulimit -n 100 && exec "$0" "$@"';
  const printed = execFileSync("bash", ["-c", script, process.execPath, childFile("use-all-handles"), file]);
  expect(JSON.parse(printed.toString())).toEqual(["stored", "EMFILE", "stored", "stored", "stored"]);
});
