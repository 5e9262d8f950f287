import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { startChild } from "../children/child.js";
import { MINUTE, statesOf } from "../conformance/fixture.js";
import { openStore } from "./store-on.js";

describeOnPostgres((database) => {
  test("a process that is killed leaves its work and its call to others after some seconds, and not while it lives", async () => {
    const store = await openStore(database);
    const child = startChild("own-postgres-store", database.url, database.schema);
    expect(await child.line()).toBe("ready");
    const recover = async (): Promise<number> => (await store.recover(Date.now())).recovered;
    const leaseSend = () => {
      const now = Date.now();
      return store.leaseSend({ now, leaseUntil: now + MINUTE, limit: 1 });
    };
    for (let looks = 0; looks < 8; looks += 1) {
      expect(await recover()).toBe(0);
      await sleep(500);
    }
    await child.kill();
    const missed = async () => {
      expect(await recover()).toBe(0);
      const passed = `missing_since - interval '15 s' WHERE missing_since IS NOT NULL`;
      return (await database.pool.query(`UPDATE ${database.schema}.inbox_process SET missing_since = ${passed}`))
        .rowCount;
    };
    await expect.poll(missed).toBe(1);
    expect(await recover()).toBe(1);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "pending" });
    expect((await leaseSend()).send).toMatchObject({ attempt: 2 });
  });
});
