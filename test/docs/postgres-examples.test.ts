import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeExampleFolder } from "./example-folder.js";
import { runExample } from "./run-example.js";

/** The function of graphile-worker, with its documented parameters. */
const ADD_JOB = `
  CREATE SCHEMA graphile_worker;
  CREATE TABLE graphile_worker.job (task text, payload json, key text UNIQUE);
  CREATE FUNCTION graphile_worker.add_job(identifier text, payload json = NULL, queue_name text = NULL,
    run_at timestamptz = NULL, max_attempts integer = NULL, job_key text = NULL, priority integer = NULL,
    flags text[] = NULL, job_key_mode text = 'replace') RETURNS graphile_worker.job LANGUAGE sql
    AS $$ INSERT INTO graphile_worker.job VALUES (identifier, payload, job_key) RETURNING * $$`;

describeOnPostgres((database) => {
  test("examples/postgres has one row and one contact event for each bounce, whichever receiver SIGKILL met", async () => {
    const { ended, output } = runExample(makeExampleFolder(), "postgres/watch", { DATABASE_URL: database.url });
    expect(await ended, output()).toBe(0);
    expect(output()).toMatch(/^24 bounces, \d+ attempts to deliver them, 3 kills$/m);
    expect(output()).toMatch(/^24 rows in the table "bounce", of 24 different bounces, written by [2-5] processes$/m);
    expect(output()).toContain("24 contact events at the service, of 24 different bounces");
    const { rows } = await database.pool.query("SELECT datname FROM pg_database WHERE datname LIKE 'example_%'");
    expect(rows).toEqual([]);
  }, 120_000);

  test("examples/postgres leaves no database behind when it is interrupted", async () => {
    const { child, ended, output } = runExample(makeExampleFolder(), "postgres/watch", { DATABASE_URL: database.url });
    await expect.poll(() => output(), { timeout: 60_000 }).toContain("listens");
    child.kill("SIGINT");
    expect(await ended, output()).toBe(1);
    const { rows } = await database.pool.query("SELECT datname FROM pg_database WHERE datname LIKE 'example_%'");
    expect(rows).toEqual([]);
  }, 120_000);

  test("examples/hand-over makes one job of an event that is delivered twice", async () => {
    const { pool, url } = database;
    await pool.query(ADD_JOB);
    onTestFinished(async () => void (await pool.query("DROP SCHEMA graphile_worker, pigeonhole CASCADE")));
    const port = await findFreePort();
    const { child, ended, output } = runExample(makeExampleFolder(), "hand-over/receiver", {
      DATABASE_URL: url,
      PORT: String(port),
    });
    const event = sampleEvent("email.bounced");
    const body = JSON.stringify(event);
    const post = async (): Promise<number> => {
      const headers = signDelivery({ body, secret: TEST_SECRET });
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status;
    };
    await expect.poll(() => post().catch(() => 0), { timeout: 20_000 }).toBe(200);
    expect(await post(), output()).toBe(200);
    const readJobs = async () => (await pool.query("SELECT task, key, payload FROM graphile_worker.job")).rows;
    await expect.poll(readJobs).toEqual([
      {
        task: "handle_bounce",
        key: event.id,
        payload: { address: event.data.recipient, at: event.createdAt },
      },
    ]);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  }, 60_000);
});
