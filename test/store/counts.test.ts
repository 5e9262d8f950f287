import { isoTime } from "#pigeonhole/base/iso-time.js";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import type { Store } from "#pigeonhole/store/store.js";
import { newEvent } from "./conformance/new-event.js";
import { openFile } from "./open-file.js";
import { makeFolder } from "../support/folder.js";
import { countWork } from "../support/operate.js";

/** More than a page of work. */
const EVENTS = 6_000;
const NOW = EVENTS + 1;

let store: Store;

/** Work for `a` and `b` of each event, due when it was received; every hundredth of `b` is dead. */
function fill(file: string): void {
  const db = openDatabase(file);
  migrate(db, file);
  db.pragma("synchronous = OFF");
  const addEvent = db.prepare("INSERT INTO inbox_event VALUES (?, ?, 'email.sent', 0, ?, 1, 1, 1)");
  const addPending = db.prepare(
    "INSERT INTO inbox_work (seq, handler, state, due_at, started, finished) VALUES (?, ?, 'pending', ?, 0, 0)",
  );
  const addDead = db.prepare(
    `INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, reason)
      VALUES (?, 'b', 'dead', 1, 1, 1, 'why')`,
  );
  db.transaction(() => {
    for (let seq = 1; seq <= EVENTS; seq += 1) {
      addEvent.run(seq, `evt_${seq}`, seq);
      addPending.run(seq, "a", seq);
      if (seq % 100 === 0) addDead.run(seq);
      else addPending.run(seq, "b", seq);
    }
  })();
  db.close();
}

let template: string;

beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), "counts-"));
  fill(join(template, "inbox.db"));
  return () => rmSync(template, { recursive: true, force: true });
});

async function open(thread: boolean): Promise<void> {
  const file = join(makeFolder(), "inbox.db");
  copyFileSync(join(template, "inbox.db"), file);
  store = await openFile(file, { thread });
}

test("a long backlog is counted to the last piece of work", async () => {
  await open(false);
  const dead = EVENTS / 100;
  expect(await countWork(store, NOW)).toMatchObject({
    pending: 2 * EVENTS - dead,
    dead,
    running: 0,
    parked: 0,
    oldestOpenReceivedAt: isoTime(1),
    oldestDueAt: isoTime(1),
    pendingByHandler: { a: EVENTS, b: EVENTS - dead },
  });
});

test("a delivery is stored while a long backlog is counted", async () => {
  await open(true);
  const ended: string[] = [];
  const counted = countWork(store, NOW).then(() => ended.push("counted"));
  // The first page is under way.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const stored = store.accept(newEvent("new")).then(() => ended.push("stored"));
  await Promise.all([counted, stored]);
  expect(ended).toEqual(["stored", "counted"]);
});
