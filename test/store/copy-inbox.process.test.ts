import { DoNotRetry } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { findIds } from "#pigeonhole/store/find-in-inbox.js";
import { copyInbox } from "#pigeonhole/store/copy-inbox.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";
import { runCli } from "../support/run-cli.js";
import { openFile } from "./open-file.js";
import { context, MINUTE, newEvent, NOTHING_TO_PRUNE, settlements, T, TRACE } from "./conformance/new-event.js";
import { acceptLeased } from "./conformance/lease-page.js";
import { RESULTS, newRecord, sendSettlements } from "./conformance/new-record.js";
import { settleAll, takeSend } from "./conformance/outbox-fixture.js";
import { operate } from "../support/operate.js";

const never = new AbortController().signal;

/** A file with work in every state. What is leased is left so, as by a process that died. */
async function fillFile(): Promise<string> {
  const file = tempFile();
  const store = await openFile(file, { thread: false });
  await store.recover(T);
  for (const to of ["done", "pending", "dead", "parked"] as const) {
    await store.settle(settlements[to](await acceptLeased(store, `evt_${to}`)));
  }
  const waiting = settlements.pending(await acceptLeased(store, "evt_waits"), T + MINUTE);
  await store.settle({ ...waiting, wait: { holds: "handler", began: T } });
  const failed = { error: "Error: no", stack: "Error: no\n    at app.js:1:1" };
  const lease = await acceptLeased(store, "evt_failed \u0000", { type: "email.sent", test: true });
  await store.saveStep(lease, "asked", '{"a":"\\u0000"}', T);
  await store.settle({ ...settlements.pending(lease), ...failed });
  await store.accept(
    newEvent("evt_two", { trace: TRACE, work: [{ handler: "a" }, { handler: "b", leaseUntil: T + MINUTE }] }),
  );
  await store.accept(newEvent("evt_none", { work: [] }));
  for (const id of ["acme/evt_none", "beta/evt_none"]) await store.accept(newEvent(id, { work: [] }));
  await store.accept(newEvent("evt_discarded"));
  await operate(store, T + 1).changeEvent("discard", "evt_discarded");
  await addOtherBodies(store);
  const ann = Buffer.from('{"id":"evt_erased","to":"ann@example.com"}');
  await store.accept(newEvent("evt_erased", { body: ann, work: [] }));
  await operate(store).erase({ email: "ann@example.com" });
  await store.keepPolicies([{ handler: "h", maxAttempts: 7, types: [] }]);
  await addContactEvents(store);
  await store.close();
  return file;
}

/** Two bodies of one id, of which the second is kept. */
async function addOtherBodies(store: Store): Promise<void> {
  const parked = { reason: "bad_data", detail: "no subject" };
  await store.accept(newEvent("evt_other", { work: [], parked }));
  const body = Buffer.from('{"id":"evt_other","n":2}');
  const result = await store.accept(newEvent("evt_other", { body, work: [{ handler: "h" }] }));
  expect(result).toMatchObject({ kind: "stored", otherBytes: true });
}

/** Sent, refused, given up as a whole, part of a call that waits for its third try, and waiting. */
async function addContactEvents(store: Store): Promise<void> {
  await store.record(newRecord("sent"), T);
  await settleAll(store, await takeSend(store), "done");
  await store.record(newRecord("refused"), T + 1);
  await settleAll(store, await takeSend(store), "dead");
  for (const key of ["up_1", "up_2"]) await store.record(newRecord(key), T + 2);
  await store.settleSend(sendSettlements.dead(await takeSend(store)));
  for (const key of ["mixed", "again"]) await store.record(newRecord(key), T + 3);
  const mixed = await takeSend(store);
  const [first = -1, second = -1] = mixed.events.map(({ seq }) => seq);
  await store.settleSend(sendSettlements.settled(mixed, [RESULTS.done(first), RESULTS.again(second)]));
  const lease = await acceptLeased(store, "evt_records");
  const byHandler = { key: "by handler", body: newRecord("by handler").body, occurredAt: T, trace: TRACE };
  await store.settle({ ...settlements.done(lease), records: [byHandler] });
  await store.settleSend(sendSettlements.pending(await takeSend(store)));
  await store.record(newRecord("waits \u0000"), T + 4);
}

/** All that an operator sees, without numbers and without the state of what the process died in. */
async function readAll(place: string) {
  const inbox: InboxOperator = await openInbox(place);
  try {
    const events = [];
    for (const { id } of (await inbox.listEvents({ limit: 500 })).items.toReversed()) {
      const { seq: _, body, handlers, ...event } = (await inbox.getEvent(id)) ?? expect.unreachable();
      const isOver = handlers.every(({ state }) => state !== "running");
      events.push({
        ...event,
        ...(isOver ? {} : { state: "pending" }),
        body: body && Buffer.from(body).toString(),
        handlers: handlers.map((view) => (view.state === "running" ? { ...view, state: "pending" } : view)),
      });
    }
    const { items } = await inbox.listContactEvents({ limit: 500 });
    const contactEvents = items.map((view) => ({ ...view, seq: 0 }));
    const { events: counts, contactEvents: outbox } = await inbox.overview();
    return { events, contactEvents: contactEvents.toReversed(), done: counts.done, dead: counts.dead, outbox };
  } finally {
    await inbox.close();
  }
}

describeOnPostgres((database) => {
  const to = (): string => `${database.url}#${database.schema}`;
  // What is used of it does not depend on its transactions.
  const createStore = (): Store =>
    createPostgresStore({ pool: database.pool, schema: database.schema }) as Store<unknown> as Store;
  afterEach(async () => {
    await database.pool.query(`DROP SCHEMA IF EXISTS ${database.schema} CASCADE`);
  });

  /** A run that died is due at once, and not at the end of its lease. Calls have numbers of their own. */
  const withoutDueTime = ({ events, contactEvents, ...rest }: Awaited<ReturnType<typeof readAll>>) => ({
    ...rest,
    contactEvents: contactEvents.map((view) => ({ ...view, call: view.call === undefined ? undefined : 0 })),
    events: events.map((event) =>
      event.id === "evt_two" ? { ...event, handlers: event.handlers.map((view) => ({ ...view, dueAt: 0 })) } : event,
    ),
  });

  test("a copy shows the same as the file, and a second one copies nothing", async () => {
    const from = await fillFile();
    const before = await readAll(from);
    expect(await copyInbox({ from, to: to(), signal: never })).toMatchObject({
      events: before.events.length,
      eventsThere: 0,
      contactEvents: before.contactEvents.length,
      contactEventsThere: 0,
    });
    const copied = await readAll(to());
    expect(withoutDueTime(copied)).toEqual(withoutDueTime(before));
    expect(copied.events.map(({ source }) => source)).toEqual(expect.arrayContaining(["", "acme", "beta"]));
    expect(before.contactEvents.map(({ state }) => state)).toEqual(
      expect.arrayContaining(["done", "dead", "retrying", "pending"]),
    );
    expect(await copyInbox({ from, to: to(), signal: never })).toMatchObject({
      events: 0,
      eventsThere: before.events.length,
      contactEvents: 0,
      contactEventsThere: before.contactEvents.length,
    });
    expect(await readAll(to())).toEqual(copied);
    expect(await readAll(from)).toEqual(before);
    const { rows } = await database.pool.query(`
      SELECT e.id AS of, b.trace FROM ${database.schema}.inbox_body AS b JOIN ${database.schema}.inbox_event AS e USING (seq)
      WHERE b.trace IS NOT NULL
      UNION ALL SELECT key, trace FROM ${database.schema}.outbox_event WHERE trace IS NOT NULL`);
    expect(rows).toEqual([
      { of: "evt_two", trace: TRACE },
      { of: "by handler", trace: TRACE },
    ]);
  });

  test("a copy knows since when it has all ids, although an older event has come with it", async () => {
    const file = tempFile();
    const store = await openFile(file, { thread: false });
    await store.accept(newEvent("stays"));
    await store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + MINUTE });
    await store.close();
    await copyInbox({ from: file, to: to(), signal: never });
    const copy = await openInbox(to());
    onTestFinished(() => copy.close());
    expect(await findIds(copy, { source: "", ids: ["stays", "gone"] })).toEqual(["stays"]);
    expect(await copy.idsKnownSince()).toBe(T + MINUTE);
  });

  test("a copy that died at any table is continued by the next one", async () => {
    const from = await fillFile();
    const before = await readAll(from);
    const store = createStore();
    await store.open(context);
    await store.close();
    const tables = ["event", "body", "work", "step", "failed", "handler"];
    for (const table of [...tables.map((name) => `inbox_${name}`), "outbox_send", "outbox_event"]) {
      await dieAt(table, async () => {
        const error = await errorOf(() => copyInbox({ from, to: to(), signal: never }));
        expect(error, table).toMatchObject({ code: "store_unreachable" });
      });
    }
    await copyInbox({ from, to: to(), signal: never });
    expect(withoutDueTime(await readAll(to()))).toEqual(withoutDueTime(before));
  });

  /** While it runs, the connection that writes into the table is closed by the server. */
  async function dieAt(table: string, copy: () => Promise<void>): Promise<void> {
    const { pool, schema } = database;
    await pool.query(
      `CREATE OR REPLACE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
       CREATE TRIGGER die AFTER INSERT ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION public.die()`,
    );
    await copy();
    await pool.query(`DROP TRIGGER die ON ${schema}.${table}`);
  }

  test("a copy that is interrupted between pages says so, and is complete after the next one", async () => {
    const file = tempFile();
    const store = await openFile(file, { thread: false });
    await store.recover(T);
    for (let index = 0; index < 450; index += 1) await store.accept(newEvent(`evt_${index}`));
    await store.close();
    let pages = 0;
    const stopping = {
      throwIfAborted() {
        pages += 1;
        if (pages === 3) throw new DOMException("Interrupted.", "AbortError");
      },
    };
    const error = await errorOf(() => copyInbox({ from: file, to: to(), signal: stopping as AbortSignal }));
    expect(error.name).toBe("AbortError");
    expect(await copyInbox({ from: file, to: to(), signal: never })).toMatchObject({ events: 50, eventsThere: 400 });
    expect((await readAll(to())).events.map(({ id }) => id)).toEqual(
      Array.from({ length: 450 }, (_, index) => `evt_${index}`),
    );
  });

  describe("a receiver that moves", () => {
    test("what a receiver on a file had done is not done again after the move, and what waited is", async () => {
      const file = tempFile();
      const before = openReceiver({ store: storeIn(file) });
      before.on("email.sent", () => undefined);
      before.on("email.bounced", () => {
        throw new DoNotRetry("not yet");
      });
      await before.start();
      const [sent, bounced] = [makeEvent(), makeEvent({ type: "email.bounced" })];
      for (const event of [sent, bounced]) await post(before, event);
      await untilWork(before, sent.id, { state: "done" });
      await untilWork(before, bounced.id, { state: "dead" }, "email.bounced");
      const inUse = await errorOf(() => copyInbox({ from: file, to: to(), signal: never }));
      expect(inUse).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("Stop it") as string });
      await before.stop();
      await copyInbox({ from: file, to: to(), signal: never });

      const after = openReceiver({ store: createStore() });
      const handled: string[] = [];
      after.on("email.sent", ({ id }) => void handled.push(id));
      after.on("email.bounced", ({ id }) => void handled.push(id));
      await after.start();
      expect(await errorOf(() => copyInbox({ from: file, to: to(), signal: never }))).toMatchObject({
        code: "invalid_argument",
        message: expect.stringMatching(/^A receiver has postgres:\/\/postgres@127/) as string,
      });
      for (const event of [sent, bounced]) expect(await post(after, event)).toMatchObject({ outcome: "duplicate" });
      await after.inbox.retry(bounced.id);
      await untilWork(after, bounced.id, { state: "done" }, "email.bounced");
      expect(handled).toEqual([bounced.id]);
      await after.stop();
    });

    test("a copy is refused beside a receiver that only accepts, also before its first delivery", async () => {
      const receiver = openReceiver({ store: createStore(), role: "accept" });
      await receiver.start();
      const copy = async () => copyInbox({ from: await fillFile(), to: to(), signal: never });
      expect(await errorOf(copy)).toMatchObject({
        code: "invalid_argument",
        message: expect.stringMatching(/^A receiver has postgres:/) as string,
      });
      await receiver.stop();
      await copy();
    });
  });

  test("inbox copy prints what it has copied, without the password", async () => {
    const from = await fillFile();
    const place = to().replace("//postgres@", "//postgres:canary@");
    const { code, stdout, stderr } = await runCli(["inbox", "copy", from, "env:MAIL_URL"], {
      cwd: makeFolder(),
      env: { MAIL_URL: place },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^postgres:\/\/postgres@127\S+ has all of \S+\.\n\d+ events copied\n\d+ contact events copied\n/,
    );
    expect(stdout).not.toContain("canary");
    const again = await runCli(["inbox", "copy", from, place]);
    expect(again.stdout).toMatch(/\n0 events copied, \d+ were there already\n/);
    const turned = await runCli(["inbox", "copy", place, from]);
    expect([turned.code, turned.stderr]).toEqual([2, expect.stringContaining("first and then the postgres:// URL")]);
    const missing = await runCli(["inbox", "copy", "no.db", place]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("There is no file")]);
  });
});
