import { test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { killInBatch } from "./kill-batch.js";

describeOnPostgres((database) => {
  test("an event that kills processes takes the others of its batch with it once, on PostgreSQL too", async () => {
    const { url, schema, pool } = database;
    await killInBatch({ url, schema }, async () => {
      const { rows } = await pool.query<{ event: string }>("SELECT event FROM public.effect");
      return rows.map(({ event }) => event);
    });
  });
});
