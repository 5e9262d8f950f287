import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { startChild } from "../children/child.js";
import { MINUTE, statesOf } from "../conformance/fixture.js";
import { openStore } from "./store-on.js";

/** The work of a killed process is another's within 5 s; some more on a machine that is busy with other tests. */
const WITHIN_MS = 8_000;

describeOnPostgres((database) => {
  test("a process that is killed leaves its work and its call to others within seconds, and not while it lives", async () => {
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
    const killedAt = performance.now();
    while ((await recover()) === 0) await sleep(250);
    expect(performance.now() - killedAt).toBeGreaterThan(2_000);
    expect(performance.now() - killedAt).toBeLessThan(WITHIN_MS);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "pending" });
    expect((await leaseSend()).send).toMatchObject({ attempt: 2 });
  });
});
