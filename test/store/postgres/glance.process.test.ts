import type { Glance } from "#pigeonhole/store/store.js";
import type { PostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describe, expect, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { T } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { openStore } from "./store-on.js";

const NOTHING: Glance = { due: [], requested: false, contactEvents: false, orphans: false, paused: [] };

const look = (store: PostgresStore): Promise<Glance> =>
  store.glance?.({ handlers: ["h"], now: T }) ?? expect.unreachable();

describeOnPostgres((database) => {
  describe("a glance at what there is to do", () => {
    // What is due, requested or paused is in the models and the suites of both stores.

    test("says that this process has lost its lock, also once others have forgotten it, and that it lost one lately", async () => {
      const store = await openStore(database);
      await database.pool.query(`DELETE FROM ${database.schema}.inbox_process`);
      expect(await look(store)).toEqual(NOTHING);
      await database.pool.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pigeonhole session'`,
      );
      expect(await look(store)).toEqual({ ...NOTHING, orphans: true });
      await store.recover(T);
      expect(await look(store)).toEqual({ ...NOTHING, orphans: true });
    });

    test("says that the process which holds a lease is gone", async () => {
      const store = await openStore(database);
      const other = await openStore(database, database.url);
      await acceptLeased(other, "a");
      expect(await look(store)).toEqual(NOTHING);
      await other.close();
      await expect.poll(() => look(store)).toEqual({ ...NOTHING, orphans: true });
      await expect
        .poll(async () => {
          await store.recover(T);
          return look(store);
        })
        .toEqual({ ...NOTHING, due: ["h"] });
    });
  });
});
