import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createSqliteStore, DoNotRetry } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { HOUR } from "#pigeonhole/base/duration.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { MIGRATIONS } from "#pigeonhole/store/sqlite/migrations.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";
import { createFailingHandler } from "../support/failing-handler.js";
import { writeRuns } from "../support/ended-runs.js";
import { operate } from "../support/operate.js";
// The first record of a contact event loads it, which is no time of a test.
import "#pigeonhole/client/create-client.js";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "inbox-file-"));
  file = join(folder, "inbox.db");
  return () => rmSync(folder, { recursive: true, force: true });
});

/** Writes on this thread: another one takes long to start. */
const storeOf = (path: string) => createSqliteStore({ file: path, thread: false });

async function open(): Promise<InboxOperator> {
  const inbox = await openInboxFile(file);
  onTestFinished(() => inbox.close());
  return inbox;
}

/** A receiver on the file with a dead event, whose handler fails until it is fixed. */
async function startWithDeadEvent() {
  const { run, fix } = createFailingHandler(() => new DoNotRetry("the address book is closed"));
  const clock = fakeClock(Date.now());
  const receiver = openReceiver({ store: storeOf(file), clock });
  receiver.on("email.sent", run);
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "dead" });
  return { receiver, event, fix, clock };
}

describe("the inbox of a running receiver", () => {
  test("the inbox has from each start how often a handler may run on an event", async () => {
    const event = makeEvent();
    const start = async (maxAttempts: number) => {
      const receiver = openReceiver({ store: storeOf(file) });
      const { run } = createFailingHandler(() => new Error("the address book is closed"));
      receiver.on("email.sent", run, { retry: { maxAttempts, initialMs: HOUR } });
      await receiver.start();
      await post(receiver, event);
      await untilWork(receiver, event.id, { state: "retrying", attempts: 1, maxAttempts });
      return receiver;
    };
    await (await start(3)).stop();
    const inbox = await open();
    expect(await inbox.getEvent(event.id)).toMatchObject({ handlers: [{ attempts: 1, maxAttempts: 3 }] });
    await start(5);
    expect(await inbox.listEvents()).toMatchObject({ items: [{ handlers: [{ attempts: 1, maxAttempts: 5 }] }] });
  });

  test("the inbox has the first and the last error of a handler in full, with causes, and lists have the message only", async () => {
    const clock = fakeClock();
    const receiver = openReceiver({ store: storeOf(file), clock });
    const retry = { maxAttempts: 4, initialMs: 1_000, factor: 1, jitter: 0 };
    receiver.on(
      "email.sent",
      function askAddressBook(_, { attempt }) {
        throw new TypeError(`try ${attempt}`, { cause: new RangeError("no shelf") });
      },
      { retry },
    );
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event, { at: clock.now() });
    for (const attempts of [1, 2, 3]) {
      await untilWork(receiver, event.id, { state: "retrying", attempts });
      await clock.advance(1_000);
    }
    await untilWork(receiver, event.id, { state: "dead", attempts: 4 });
    const inbox = await open();
    const stackOf = (attempt: number) =>
      expect.stringMatching(
        new RegExp(`^TypeError: try ${attempt}\n +at .*askAddressBook.*\n[^]*\nCaused by: RangeError: no shelf\n +at `),
      );
    const [work] = (await inbox.getEvent(event.id))?.handlers ?? [];
    expect(work).toMatchObject({
      error: "TypeError: try 4",
      failed: { first: { attempt: 1, stack: stackOf(1) }, last: { attempt: 4, stack: stackOf(4) } },
    });
    expect(JSON.stringify(await inbox.listEvents())).not.toContain("askAddressBook");
  });

  test("policies that the file already has are not written again", async () => {
    const store = storeOf(file);
    await store.open({ logger: silentLogger });
    const beside = new Database(file);
    onTestFinished(async () => {
      beside.close();
      await store.close();
    });
    const keep = async (maxAttempts: number) => {
      await store.keepPolicies([{ handler: "email.sent", maxAttempts, types: [] }]);
      return beside.pragma("data_version", { simple: true });
    };
    const first = await keep(3);
    expect(await keep(3)).toBe(first);
    expect(await keep(4)).not.toBe(first);
  });

  test("the inbox has how long handlers took, as their receiver has written it", async () => {
    const store = storeOf(file);
    await store.open({ logger: silentLogger });
    onTestFinished(() => store.close());
    const inbox = await open();
    expect(await inbox.handlerTimes()).toEqual([]);
    const noted = Date.parse("2026-02-01T10:05:00Z");
    await writeRuns(store, [{ handler: "email.sent", outcome: "failed", fromMs: 20, runs: 2 }], noted);
    const times = await inbox.handlerTimes({ handler: "email.sent", since: noted, until: noted + 1 });
    expect(times).toEqual(await operate(store).handlerTimes({}));
    expect(times).toMatchObject([{ runs: 2, failed: 2, buckets: [{ fromMs: 20, toMs: 50, done: 0, failed: 2 }] }]);
    expect(await inbox.handlerTimes({ handler: "other" })).toEqual([]);
    expect(await inbox.handlerTimes({ since: noted + HOUR })).toEqual([]);
    expect(await inbox.handlerTimes({ until: noted - HOUR })).toEqual([]);
  });

  test("erase names the WAL that keeps old versions only while a receiver has it", async () => {
    const email = "ann@example.com";
    const { receiver } = await startWithDeadEvent();
    const beside = await open();
    expect((await beside.erase({ email, dryRun: true })).walLeft).toBeUndefined();
    expect((await beside.erase({ email })).walLeft).toBe(`${realpathSync(file)}-wal`);
    await beside.close();
    await receiver.stop();
    const alone = await open();
    expect((await alone.erase({ email })).walLeft).toBeUndefined();
  });

  test.each([0, 501, 1.5])("a list with the limit %d is refused as the receiver refuses it", async (limit) => {
    const { receiver } = await startWithDeadEvent();
    const inbox = await open();
    const { code, message } = await errorOf(() => receiver.inbox.list({ limit }));
    expect(code).toBe("invalid_option");
    expect(await errorOf(() => inbox.listEvents({ limit }))).toMatchObject({ code, message });
    expect(await errorOf(() => inbox.listContactEvents({ limit }))).toMatchObject({ code, message });
  });

  test("an event that was not understood stays parked until the receiver has read it again", async () => {
    const clock = fakeClock(Date.now());
    const receiver = openReceiver({ store: storeOf(file), clock });
    await receiver.start();
    const event = makeEvent({ type: "email.unheard" });
    await post(receiver, event);
    const inbox = await open();
    expect(await inbox.changeEvent("retry", event.id)).toEqual({ work: 0, readAgain: 1 });
    const at = expect.any(String) as string;
    expect(await inbox.getEvent(event.id)).toMatchObject({ state: "parked", handlers: [{ retryRequestedAt: at }] });
    const waits = async () => (await inbox.getEvent(event.id))?.handlers[0]?.retryRequestedAt !== null;
    await expect.poll(() => clock.advance(1_000).then(waits)).toBe(false);
    expect(await inbox.getEvent(event.id)).toMatchObject({ state: "parked", handlers: [{ reason: "unknown_type" }] });
  });
});

describe("the inbox without a running receiver", () => {
  test("a retry without a running receiver is run by the next one", async () => {
    const { receiver, event } = await startWithDeadEvent();
    await receiver.stop();
    const inbox = await open();
    expect(await inbox.changeEvent("retry", event.id)).toEqual({ work: 1, readAgain: 0 });
    expect(await inbox.getEvent(event.id)).toMatchObject({ state: "pending" });
    await inbox.close();

    const next = openReceiver({ store: storeOf(file) });
    next.on("email.sent", () => undefined);
    await next.start();
    await untilWork(next, event.id, { state: "done" });
  });
});

describe("other files", () => {
  test("a missing file is not created", async () => {
    expect(await errorOf(() => openInboxFile(file))).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(file) as string,
    });
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });

  test("a file of a newer or an older version is refused", async () => {
    await openReceiver({ store: storeOf(file) }).start();
    change("PRAGMA user_version = 999");
    expect(await errorOf(() => openInboxFile(file))).toMatchObject({ code: "schema_too_new" });
    change("PRAGMA user_version = 0");
    expect(await errorOf(() => openInboxFile(file))).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("older schema") as string,
    });
    change(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });

  test("a closed inbox cannot be used again", async () => {
    await startWithDeadEvent();
    const inbox = await open();
    await inbox.close();
    expect(await errorOf(() => inbox.overview())).toMatchObject({ code: "stopped" });
  });
});

/** Changes the file behind the receiver's back. */
function change(sql: string): void {
  const db = new Database(file, { timeout: 2_000 });
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}
