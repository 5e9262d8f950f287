import { expect, test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { killBetweenCreateAndKeep } from "./kill-once.js";

describeOnPostgres((database) => {
  test("what ctx.once made is found after SIGKILL between the creation and its answer, on PostgreSQL too", async () => {
    expect(await killBetweenCreateAndKeep({ url: database.url, schema: database.schema })).toBe(1);
  }, 120_000);
});
