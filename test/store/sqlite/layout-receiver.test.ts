import { join } from "node:path";
import { createReceiver, createSqliteStore, type Receiver } from "pigeonhole";
import { deliver, sampleEvent, TEST_SECRET } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import Database from "better-sqlite3";
import { makeFolder } from "../../support/folder.js";

const TYPES = ["email.sent", "email.bounced", "domain.verified"] as const;

/** Runs of each handler, as "event handler". */
type Runs = string[];

function makeReceiver(file: string, runs: Runs): Receiver {
  const store = createSqliteStore({ file, thread: false });
  const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: silentLogger, telemetry: false });
  const note = (handler: string) => (event: { id: string }) => void runs.push(`${event.id} ${handler}`);
  receiver.on("*", note("all"), { name: "all", key: () => "one at a time" });
  receiver.on("email.*", note("mail"), { name: "mail" });
  receiver.on("email.sent", (event, ctx) => ctx.commit(() => note("sent")(event)), { name: "sent" });
  return receiver;
}

test("work of three handlers that is done, one of them with a key, runs in no later process, nor for a new handler", async () => {
  const folder = makeFolder();
  const file = join(folder, "inbox.db");
  const runs: Runs = [];
  const first = makeReceiver(file, runs);
  const events = Array.from({ length: 30 }, (_, index) => ({
    ...sampleEvent(TYPES[index % TYPES.length] ?? "email.sent"),
    id: `evt_${index}`,
  }));
  const delivered = await Promise.all(events.map((event) => deliver(first, event)));
  await first.stop();
  expect(delivered.flatMap(({ handlers }) => handlers).every(({ state }) => state === "done")).toBe(true);
  const wanted = events.flatMap(({ id, type }) => [
    `${id} all`,
    ...(type === "domain.verified" ? [] : [`${id} mail`]),
    ...(type === "email.sent" ? [`${id} sent`] : []),
  ]);
  expect(runs.toSorted()).toEqual(wanted.toSorted());

  const db = new Database(file, { readonly: true });
  const count = (sql: string): unknown => db.prepare(sql).pluck().get();
  expect(count("SELECT count(*) FROM inbox_work WHERE state <> 'done'")).toBe(0);
  expect(count("SELECT count(*) FROM inbox_work")).toBe(wanted.length);
  db.close();

  const later: Runs = [];
  const second = makeReceiver(file, later);
  second.on("*", (event) => void later.push(`${event.id} late`), { name: "late" });
  await second.start();
  await deliver(second, { ...sampleEvent("email.sent"), id: "evt_new" });
  await second.stop();
  expect(later.toSorted()).toEqual(["all", "late", "mail", "sent"].map((handler) => `evt_new ${handler}`));
});
