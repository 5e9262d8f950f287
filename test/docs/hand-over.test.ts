import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { type Running, startProgram } from "../support/start-program.js";
import { findFreePort } from "../support/free-port.js";
import { readRows } from "../support/inbox-file.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { isInstalled, isSkippedWithout } from "../support/tools.js";
import { ROOT, run, useExampleProject } from "./example-project.js";

// The programs of examples/hand-over with the real queues. What they say of "once" is tried at the death that it is
// about.

const project = useExampleProject("hand-over");

/** A queue, and the inbox whose events become its jobs. */
interface Tried {
  env: Record<string, string>;
  countJobs: () => Promise<number>;
  /** What a query finds in the inbox. */
  readInbox: (sql: string) => Promise<unknown[]>;
  /** Delivers the last event, and kills the receiver while it hands the event over. */
  die: (deliver: () => Promise<void>, kill: () => Promise<unknown>) => Promise<void>;
  /** Ids of the events whose jobs the worker has done, one for each effect. */
  readEffects: (worker: Running) => Promise<string[]>;
}

function start(command: string, args: readonly string[], env: Record<string, string> = {}, cwd = project): Running {
  return startProgram({ command, args, cwd, env });
}

async function tryHandOver(engine: string, tried: Tried): Promise<void> {
  const port = String(await findFreePort());
  const env = { ...tried.env, PORT: port, WEBHOOK_SECRET: TEST_SECRET };
  const startPart = (part: string) => start(process.execPath, ["--import", "tsx", `${engine}/${part}.ts`], env);
  const post = async (event: object): Promise<number> => {
    const body = JSON.stringify(event);
    const headers = signDelivery({ body, secret: TEST_SECRET });
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status;
  };
  const deliver = async (event: object): Promise<void> => {
    await expect.poll(() => post(event).catch(() => receiver.output()), { timeout: 60_000 }).toBe(200);
    expect(await post(event)).toBe(200); // the service sends it once more
  };
  const events = Array.from({ length: 5 }, () => sampleEvent("email.bounced"));
  const ids = events.map(({ id }) => id).toSorted();

  let receiver = startPart("receiver");
  for (const event of events.slice(1)) await deliver(event);
  await expect.poll(tried.countJobs).toBe(4);
  await tried.die(
    () => deliver(events[0] ?? {}),
    async () => (receiver.child.kill("SIGKILL"), receiver.ended),
  );
  const readOpen = () => tried.readInbox("SELECT started FROM inbox_work WHERE state <> 'done'");
  expect(await readOpen()).toHaveLength(1);

  receiver = startPart("receiver");
  for (const event of events) await deliver(event);
  await expect.poll(readOpen, { timeout: 60_000 }).toEqual([]);
  expect(await tried.readInbox("SELECT started FROM inbox_work WHERE started > 1")).toHaveLength(1);
  expect(await tried.countJobs()).toBe(5);

  const worker = startPart("worker");
  await expect.poll(async () => (await tried.readEffects(worker)).toSorted()).toEqual(ids);
  await expect.poll(tried.countJobs).toBe(0);
  expect(await tried.readEffects(worker)).toHaveLength(5);
  for (const { child, ended } of [worker, receiver]) {
    child.kill("SIGTERM");
    expect([0, null], (await ended).stderr).toContain((await ended).code); // graphile-worker ends itself by the signal
  }
}

describe.skipIf(isSkippedWithout(isInstalled("redis-server")))("on Redis", () => {
  test("examples/hand-over/bullmq makes one job of each event, though a receiver dies after it has added one", async () => {
    const folder = mkdtempSync(join(project, "redis-"));
    const port = String(await findFreePort());
    const file = join(folder, "inbox.db");
    start("redis-server", ["--port", port, "--bind", "127.0.0.1", "--appendonly", "yes"], {}, folder);
    const ask = async (...words: string[]) => (await start("redis-cli", ["-p", port, ...words]).ended).stdout.trim();
    const countJobs = async () => Number(await ask("LLEN", "bull:bounces:wait"));
    await expect.poll(() => ask("PING")).toBe("PONG");
    await tryHandOver("bullmq", {
      env: { REDIS_URL: `redis://127.0.0.1:${port}`, DATABASE_FILE: file },
      countJobs,
      readInbox: async (sql) => readRows(file, sql),
      async die(deliver, kill) {
        await ask("CLIENT", "PAUSE", "60000", "WRITE");
        await deliver();
        const db = new Database(file);
        db.exec("BEGIN IMMEDIATE"); // the receiver cannot mark the event as done
        await ask("CLIENT", "UNPAUSE");
        await expect.poll(countJobs).toBe(5);
        await kill();
        db.close();
      },
      readEffects: async (worker) => [...worker.output().matchAll(/ of (\S+) is done/g)].map(([, id]) => String(id)),
    });
  });
});

describeOnPostgres((database) => {
  test("examples/hand-over/graphile-worker makes one job of each event, though a receiver dies in its transaction", async () => {
    const readRow = async (sql: string) => (await database.pool.query<Record<string, unknown>>(sql)).rows;
    const count = async (sql: string) => Number((await readRow(`SELECT count(*) FROM ${sql}`))[0]?.["count"]);
    await tryHandOver("graphile-worker", {
      env: { DATABASE_URL: database.url },
      countJobs: () => count("graphile_worker.jobs"),
      readInbox: (sql) => readRow(sql.replace("inbox_work", "pigeonhole.inbox_work")),
      async die(deliver, kill) {
        const client = await database.pool.connect();
        await client.query("BEGIN; LOCK TABLE graphile_worker._private_jobs IN SHARE MODE");
        await deliver();
        await expect.poll(() => count("pg_locks WHERE NOT granted")).toBe(1);
        await kill();
        await client.query("ROLLBACK");
        client.release();
      },
      readEffects: async () => (await readRow("SELECT event FROM bounce")).map(({ event }) => String(event)),
    });
  });
});

test("the programs of examples/hand-over have no error of types", async () => {
  await run(process.execPath, [join(ROOT, "node_modules/.bin/tsc"), "--project", project], project);
});
