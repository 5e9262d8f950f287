import { expect, test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeExampleFolder } from "./example-folder.js";
import { runProgram } from "./run-example.js";

describeOnPostgres((database) => {
  test("examples/postgres has one row and one contact event for each bounce, whichever receiver SIGKILL met", async () => {
    const { ended, output } = runProgram(makeExampleFolder(), "examples/postgres/watch", {
      DATABASE_URL: database.url,
    });
    expect(await ended, output()).toBe(0);
    expect(output()).toMatch(/^24 bounces, \d+ attempts to deliver them, 3 kills$/m);
    expect(output()).toMatch(/^24 rows in the table "bounce", of 24 different bounces, written by [2-5] processes$/m);
    expect(output()).toContain("24 contact events at the service, of 24 different bounces");
    const { rows } = await database.pool.query("SELECT datname FROM pg_database WHERE datname LIKE 'example_%'");
    expect(rows).toEqual([]);
  }, 120_000);

  test("examples/postgres leaves no database behind when it is interrupted", async () => {
    const { child, ended, output } = runProgram(makeExampleFolder(), "examples/postgres/watch", {
      DATABASE_URL: database.url,
    });
    await expect.poll(() => output(), { timeout: 60_000 }).toContain("listens");
    child.kill("SIGINT");
    expect(await ended, output()).toBe(1);
    const { rows } = await database.pool.query("SELECT datname FROM pg_database WHERE datname LIKE 'example_%'");
    expect(rows).toEqual([]);
  }, 120_000);
});
