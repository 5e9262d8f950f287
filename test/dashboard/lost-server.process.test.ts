import { type Store, createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { type RelayFault, startPostgresRelay } from "../support/postgres-relay.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { captureLog, closeReceiver } from "../support/receiver.js";
import { openDashboard } from "./dashboard-client.js";

describeOnPostgres((database) => {
  test.each<[string, RelayFault]>([
    ["cannot be reached", { at: "socket" }],
    ["hangs", { at: "silence" }],
  ])(
    "while the server %s, the dashboard says so within seconds, logs it once, and works again after it",
    async (_, fault) => {
      const { url, schema, pool } = database;
      const relay = await startPostgresRelay(url);
      const log = captureLog();
      const store = createPostgresStore({ connectionString: relay.url, schema }) as Store<unknown> as Store;
      const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: log.logger, telemetry: false });
      onTestFinished(async () => {
        await closeReceiver(receiver);
        await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      });
      await receiver.start();
      const dashboard = openDashboard(receiver);
      expect((await dashboard.get("api/overview")).status).toBe(200);
      relay.fault = fault;
      if (fault.at === "socket") relay.cut();
      const since = performance.now();
      const views = ["overview", "events", "jobs", "errors", "handlers", "outbox"];
      const lost = await Promise.all(views.map((view) => dashboard.get(`api/${view}`)));
      expect(performance.now() - since).toBeLessThan(12_000);
      for (const answer of lost) expect(answer).toMatchObject({ status: 503, body: { code: "store_unreachable" } });
      // A look for jobs may have met it first.
      const logged = log.lines.filter(({ msg }) => /^dashboard_(failed|job_interrupted)$/.test(msg));
      expect(logged).toMatchObject([{ code: "store_unreachable" }]);

      relay.fault = undefined;
      relay.cut();
      const status = async () => (await dashboard.get("api/overview")).status;
      await expect.poll(status, { timeout: 10_000 }).toBe(200);
    },
    40_000,
  );
});
