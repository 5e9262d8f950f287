import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createSqliteStore, DoNotRetry } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { MIGRATIONS } from "#pigeonhole/store/sqlite/migrations.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";
import { createFailingHandler } from "../support/failing-handler.js";
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
});

describe("other files", () => {
  test("a missing file is not created", async () => {
    expect(await errorOf(() => openInboxFile(file))).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(file) as string,
    });
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });

  test("a file of an older version is refused", async () => {
    await openReceiver({ store: storeOf(file) }).start();
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
