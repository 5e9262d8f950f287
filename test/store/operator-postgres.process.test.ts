import { describe, expect, onTestFinished, test } from "vitest";
import { DoNotRetry } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import { errorOf } from "../support/error-of.js";
import { createFailingHandler } from "../support/failing-handler.js";
import { type TestDatabase, describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { describeManyErrorGroups } from "./operator/error-groups.js";
import { describeOperator } from "./operator.js";
import { postgresKind } from "./postgres-kind.js";

describeOnPostgres((database) => {
  const placeOf = ({ url, schema }: TestDatabase): string => `${url}#${schema}`;
  const drop = async (): Promise<void> => {
    await database.pool.query(`DROP SCHEMA IF EXISTS ${database.schema} CASCADE`);
  };
  // What is used of it does not depend on its transactions.
  const createStore = (): Store =>
    createPostgresStore({ pool: database.pool, schema: database.schema }) as Store<unknown> as Store;
  const kind = postgresKind(database);

  describeOperator(kind);
  describe("very many groups of errors of a PostgreSQL", () => describeManyErrorGroups(kind));

  async function open(): Promise<InboxOperator> {
    const inbox = await openInbox(placeOf(database));
    onTestFinished(() => inbox.close());
    return inbox;
  }

  /** A receiver with a dead event, whose handler fails until it is fixed. */
  async function startWithDeadEvent() {
    onTestFinished(drop);
    const { run, fix } = createFailingHandler(() => new DoNotRetry("the address book is closed"));
    const receiver = openReceiver({ store: createStore() });
    receiver.on("email.sent", run);
    await receiver.start();
    const event = makeEvent({ data: { recipient: "ann@example.com" } });
    await post(receiver, event);
    await untilWork(receiver, event.id, { state: "dead" });
    return { receiver, event, fix };
  }

  describe("the inbox of a running receiver on PostgreSQL", () => {
    test("a retried event is run by the receiver without a message to it", async () => {
      const { receiver, event, fix } = await startWithDeadEvent();
      fix();
      const inbox = await open();
      expect(await inbox.changeEvent("retry", event.id)).toEqual({ work: 1, readAgain: 0 });
      await untilWork(receiver, event.id, { state: "done" });
      expect(await inbox.changeEvent("retry", event.id)).toEqual({ work: 0, readAgain: 0 });
      expect((await inbox.overview()).events).toMatchObject({ pending: 0, dead: 0, done: 1 });
    });
  });

  test("a paused handler runs in no process until it is resumed", async () => {
    onTestFinished(drop);
    const runs: string[] = [];
    const start = async () => {
      const receiver = openReceiver({ store: createStore() });
      receiver.on("email.sent", ({ id }) => void runs.push(id));
      await receiver.start();
      return receiver;
    };
    const receivers = [await start(), await start()];
    const inbox = await open();
    await inbox.pauseHandler("email.sent", "ann");
    // Each process looks for pauses every 600 ms.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const events = receivers.map(() => makeEvent());
    for (const [index, receiver] of receivers.entries()) await post(receiver, events[index]);
    for (const receiver of receivers) {
      expect(await receiver.stats()).toMatchObject({ pending: 2, running: 0, done: 0, paused: [{ by: "ann" }] });
    }
    expect(runs).toEqual([]);
    await inbox.resumeHandler("email.sent");
    await expect.poll(() => runs.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  describe("other databases", () => {
    const withPassword = (): string => database.url.replace("//postgres@", "//postgres:hidden@");

    test("a database without an inbox is refused and left as it is, without its password in the error", async () => {
      await drop();
      const error = await errorOf(() => openInbox(`${withPassword()}#${database.schema}`));
      expect(error).toMatchObject({ code: "invalid_argument" });
      expect(error.message).toMatch(/^postgres:\/\/postgres@127\.0\.0\.1:\d+\/\w+#test_\w+ has no inbox/);
      const { rows } = await database.pool.query("SELECT to_regnamespace($1) AS found", [database.schema]);
      expect(rows).toEqual([{ found: null }]);
    });

    test("a server that does not answer is named without the password", async () => {
      const { code, message } = await errorOf(() => openInbox("postgres://app:hidden@127.0.0.1:9/app?sslmode=disable"));
      expect(code).toBe("store_unreachable");
      expect(message).toContain("opening postgres://app@127.0.0.1:9/app failed");
    });

    test.each([
      "postgres://app:hid#den@db/app",
      "postgres://app:hidden@db:port/app",
      "postgres://app:hidden@db/app#My-Schema",
    ])("the URL %s is refused without quoting it", async (place) => {
      const { code, message } = await errorOf(() => openInbox(place));
      expect(code).toBe("invalid_argument");
      expect(message).not.toMatch(/hid/);
    });

    test("a schema of another program, and one of another version, is refused", async () => {
      const { pool, schema } = database;
      onTestFinished(drop);
      await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs (a int)`);
      expect(await errorOf(() => openInbox(placeOf(database)))).toMatchObject({ code: "not_a_pigeonhole_database" });
      await drop();
      await startWithDeadEvent();
      await pool.query(`INSERT INTO ${schema}.migration (version) VALUES (999)`);
      expect(await errorOf(() => openInbox(placeOf(database)))).toMatchObject({ code: "schema_too_new" });
      await pool.query(`DELETE FROM ${schema}.migration`);
      expect(await errorOf(() => openInbox(placeOf(database)))).toMatchObject({
        code: "schema_too_old",
        message: expect.stringContaining("older version 0") as string,
      });
    });
  });
});
