import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { captureLog, closeReceiver, makeEvent, post, workOf } from "../support/receiver.js";

describeOnPostgres((database) => {
  test("a handler that waits in ctx.commit for longer than the server allows fails, with what to do as its error", async () => {
    const pool = new Pool({ connectionString: database.url, options: "-c idle_in_transaction_session_timeout=100ms" });
    pool.on("error", () => undefined);
    const log = captureLog();
    const receiver = createReceiver({
      secrets: TEST_SECRET,
      store: createPostgresStore({ pool, schema: database.schema }),
      retry: { maxAttempts: 1 },
      logger: log.logger,
      telemetry: false,
    });
    receiver.on("email.sent", (_, ctx) =>
      ctx.commit(async ({ client }) => {
        const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        const isThere = () => database.pool.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [rows[0]?.pid]);
        await expect.poll(async () => (await isThere()).rowCount).toBe(0);
      }),
    );
    await receiver.start();
    onTestFinished(async () => {
      await closeReceiver(receiver);
      await pool.end();
    });
    const event = makeEvent();
    await post(receiver, event);
    await expect
      .poll(() => workOf(receiver, event.id))
      .toMatchObject({
        state: "dead",
        reason: "attempts_spent",
        error: expect.stringContaining("Do what takes long before ctx.commit") as string,
      });
    expect(log.named("lease_lost")).toEqual([]);
  });
});
