import { beforeEach, expect, onTestFinished, test } from "vitest";
import { Pool } from "pg";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { systemClock } from "#pigeonhole/base/clock.js";
import { SECOND } from "#pigeonhole/base/duration.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { settlements } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { openStore } from "./store-on.js";

describeOnPostgres((database) => {
  const { schema } = database;
  let store: Store<unknown>;
  let operator: InboxOperator;
  let aheadMs: number;

  beforeEach(async () => {
    aheadMs = 0;
    const now = (): number => Date.now() + aheadMs;
    store = await openStore(database, database.pool, {}, { clock: { ...systemClock, now, elapsed: now } });
    operator = store.openOperator(Date.now);
    onTestFinished(() => operator.close());
  });

  async function acceptDead(count: number, type = "email.sent"): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await store.settle(settlements.dead(await acceptLeased(store, `${type}_${index}`, { type })));
    }
  }

  /** Lets the server do this with each statement that changes work; `changed` has the new rows. */
  async function whenWorkChanges(statement: string): Promise<void> {
    const { pool } = database;
    await pool.query(`
      CREATE FUNCTION ${schema}.when_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN ${statement}; RETURN NULL; END $$;
      CREATE TRIGGER when_changed AFTER UPDATE ON ${schema}.inbox_work REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.when_changed()`);
  }

  /** Runs pages as processes do, which go on a second after a failure. Returns how many failed. */
  async function runAll(): Promise<number> {
    for (let failed = 0; failed < 200;) {
      try {
        if ((await operator.runJobPage()) === undefined) return failed;
      } catch {
        failed += 1;
        aheadMs += SECOND;
      }
    }
    throw new Error("The jobs do not end.");
  }

  test("a job waits while a store fails for less than 2 minutes, and goes on then", async () => {
    await acceptDead(50);
    await whenWorkChanges("RAISE 'no space' USING ERRCODE = '53100'");
    const { id } = await operator.createJob({ action: "retry", choice: {}, by: "ann" });
    for (let failed = 0; failed < 90; failed += 1, aheadMs += SECOND)
      await expect(operator.runJobPage()).rejects.toThrow("53100");
    expect(await operator.getJob(id)).toMatchObject({ state: "open", done: 0 });
    await database.pool.query(`DROP TRIGGER when_changed ON ${schema}.inbox_work`);
    expect(await runAll()).toBe(0);
    expect(await operator.getJob(id)).toMatchObject({ state: "done", done: 50 });
  });

  test("a job that fails for over 2 minutes is failed with its error, and the next one runs", async () => {
    await acceptDead(2);
    await acceptDead(2, "email.failed");
    await whenWorkChanges(`
      IF EXISTS (SELECT 1 FROM changed JOIN ${schema}.inbox_event AS e USING (seq) WHERE e.type = 'email.sent')
      THEN RAISE 'the disk has a bad block'; END IF`);
    const poor = await operator.createJob({ action: "retry", choice: { type: "email.sent" }, by: "ann" });
    const next = await operator.createJob({ action: "retry", choice: { type: "email.failed" }, by: "ann" });
    expect(await runAll()).toBeGreaterThan(90);
    expect(await operator.getJob(poor.id)).toMatchObject({
      state: "failed",
      done: 0,
      error: expect.stringContaining("SQLSTATE P0001") as string,
    });
    expect(await operator.getJob(next.id)).toMatchObject({ state: "done", done: 2 });
  });

  test("a page of a job is ended by the server when its process stands still for 10 s", async () => {
    const limits: unknown[] = [];
    const pool = new Pool({ connectionString: database.url, max: 2 });
    pool.on("connect", (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
      const show = async (...args: unknown[]): Promise<unknown> => {
        const answer = await query(...args);
        const { text = "" } = args[0] as { text?: string };
        if (!text.startsWith("BEGIN")) return answer;
        const { rows } = (await query("SHOW idle_in_transaction_session_timeout")) as { rows: unknown[] };
        limits.push(...rows);
        return answer;
      };
      Reflect.set(client, "query", show);
    });
    onTestFinished(() => pool.end());
    const spied = await openStore(database, pool);
    const ofSpied = spied.openOperator(Date.now);
    await acceptDead(1);
    await ofSpied.createJob({ action: "retry", choice: { state: "dead" }, by: "ann" });
    expect(await ofSpied.runJobPage()).toMatchObject({ done: 1 });
    expect(limits.length).toBeGreaterThan(1);
    expect(new Set(limits.map((row) => JSON.stringify(row)))).toEqual(
      new Set(['{"idle_in_transaction_session_timeout":"10s"}']),
    );
  });

  test("a page of a job may take longer than a person waits", async () => {
    await acceptDead(1);
    await whenWorkChanges("PERFORM pg_sleep(8.5)");
    await operator.createJob({ action: "retry", choice: { state: "dead" }, by: "ann" });
    expect(await operator.runJobPage()).toMatchObject({ state: "done", done: 1 });
  });
});
