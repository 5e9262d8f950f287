import { setTimeout as sleep } from "node:timers/promises";
import { type Store, createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import type { OverviewFigures } from "#pigeonhole/dashboard/state-now.js";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { type RelayFault, startPostgresRelay } from "../support/postgres-relay.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { captureLog, closeReceiver } from "../support/receiver.js";
import { measureSlowness } from "../support/slowness.js";
import { openDashboard } from "./dashboard-client.js";

describeOnPostgres((database) => {
  test.each<[string, RelayFault, string]>([
    ["cannot be reached", { at: "socket" }, "store_unreachable"],
    ["hangs", { at: "silence" }, "store_busy"],
  ])(
    "while the server %s, the dashboard says so within seconds, logs it once, shows this process, and works after it",
    async (_, fault, code) => {
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
      const look = async () => (await dashboard.get<OverviewFigures>("api/overview")).body.now;
      expect((await look()).trouble).toBeNull();
      // The secret of the session is read once: without it, all views would wait for that.
      await dashboard.get("api/session");
      relay.fault = fault;
      if (fault.at === "socket") relay.cut();
      // What was read a moment before is shown for up to a second.
      await sleep(1_000);
      const since = performance.now();
      const ownProcess = look().then((now) => ({ now, tookMs: performance.now() - since }));
      const views = ["events", "jobs", "errors", "handlers", "outbox"];
      const lost = await Promise.all(views.map((view) => dashboard.get(`api/${view}`)));
      expect(performance.now() - since).toBeLessThan(12_000 * measureSlowness());
      const message = expect.stringContaining("See whether the database server runs");
      for (const answer of lost)
        expect(answer).toMatchObject({ status: 503, body: { code: "store_unreachable", message } });
      const { now, tookMs } = await ownProcess;
      expect(now).toMatchObject({ state: "running", trouble: { code }, store: null, processes: [{ isThis: true }] });
      expect(tookMs).toBeLessThan(8_000 * measureSlowness());
      // A look for jobs may have met it first.
      const logged = log.lines.filter(({ msg }) => /^dashboard_(failed|job_interrupted)$/.test(msg));
      expect(logged).toMatchObject([{ code: "store_unreachable" }]);

      relay.fault = undefined;
      relay.cut();
      await expect.poll(async () => (await look()).trouble).toBeNull();
    },
  );
});
