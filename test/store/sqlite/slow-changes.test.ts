import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { changePieces, selectPieces } from "#pigeonhole/store/queries/work-changes.js";
import { BEFORE_ALL } from "#pigeonhole/store/bulk-jobs.js";
import { runInFile } from "#pigeonhole/store/sqlite/run-in-file.js";
import type { Store } from "#pigeonhole/store/store.js";
import { tempFile } from "../../support/receiver.js";
import { openFile } from "../open-file.js";
import { DAY, settlements, T } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";

/** More than one page. */
const MANY = 30;

let store: Store<unknown>;
let inbox: InboxOperator;
let file: string;

beforeEach(async () => {
  file = tempFile();
  store = await openFile(file, { thread: false });
  await store.recover(T);
  inbox = await openInbox(file);
  onTestFinished(() => inbox.close());
  for (let index = 0; index < MANY; index += 1) {
    const type = index % 10 === 9 ? "email.failed" : "email.sent";
    await store.settle(settlements.dead(await acceptLeased(store, `dead_${index}`, { type })));
    await store.settle(settlements.pending(await acceptLeased(store, `waits_${index}`, { type }), Date.now() + DAY));
  }
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 10));
});

afterEach(() => vi.restoreAllMocks());

async function runAll(): Promise<number> {
  for (let pages = 0; ; pages += 1) if ((await inbox.runJobPage()) === undefined) return pages;
}

test.each(["retry", "discard", "run"] as const)(
  "a job to %s slow rows changes one in a transaction, and each once",
  async (action) => {
    const { id, total } = await inbox.createJob({ action, choice: {}, by: "ann" });
    expect(total).toBe(MANY);
    expect(await runAll()).toBeGreaterThanOrEqual(MANY);
    expect(await inbox.getJob(id)).toMatchObject({ state: "done", done: MANY });
    expect(await inbox.countWork(action, {})).toEqual({ events: 0, work: 0 });
  },
);

test("slow rows that are changed without a job are each changed once", async () => {
  const choice = { type: "email.failed" };
  expect(await inbox.changeWork("run", choice)).toMatchObject({ events: 3, work: 3 });
  expect(await inbox.countWork("run", {})).toEqual({ events: 27, work: 27 });
  expect(await inbox.changeWork("retry", choice)).toEqual({ events: 3, work: 3, readAgain: 0 });
  expect(await inbox.countWork("retry", {})).toEqual({ events: 27, work: 27 });
});

test("work that runs and waits again before its page is changed is left as it is", () => {
  const db = new Database(file);
  onTestFinished(() => void db.close());
  const now = Date.now();
  const choice = { type: "email.failed" };
  const pieces = runInFile(db, selectPieces("run", { choice, after: BEFORE_ALL, limit: 25, now }));
  expect(pieces).toHaveLength(3);
  const again = pieces[1] ?? expect.unreachable();
  db.prepare("UPDATE inbox_work SET due_at = due_at + 1000 WHERE seq = ?").run(again.seq);
  expect(runInFile(db, changePieces("run", { pieces, now })).map(({ seq }) => seq)).toEqual(
    pieces.filter((piece) => piece !== again).map(({ seq }) => seq),
  );
});
