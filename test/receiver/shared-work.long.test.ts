import { expect, test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { shareSlowWork } from "./share-slow-work.js";

describeOnPostgres((database) => {
  test("300 events of a second each, accepted by one of three processes, end in 1.3 times the least", async () => {
    const { runs, ms } = await shareSlowWork(database, { events: 300, runMs: 1_000 });
    console.info(`shared-work: ${Math.round(ms)} ms, runs of each: ${runs.join(", ")}`);
    expect(Math.min(...runs)).toBeGreaterThan(80);
    expect(ms).toBeLessThan((1.3 * 300 * 1_000) / 12);
  });
});
