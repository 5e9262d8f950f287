import { setTimeout as sleep } from "node:timers/promises";
import { type HandlerContext, createReceiver } from "pigeonhole";
import { type PostgresTransaction, createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readDataDirectory, restartAtOnce, stopAtOnce } from "../cluster/crash-server.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { captureLog, closeReceiver, makeEvent, post } from "../support/receiver.js";
import { findPostgresPrograms } from "../support/tools.js";

const EVENTS = 300;
/** The work takes some outages' time. */
const WORK_MS = 40;

type Run = (ctx: HandlerContext<PostgresTransaction>, write: () => Promise<void>) => Promise<void>;

/** What handlers make of a commit that fails. */
const RUNS: readonly Run[] = [
  (_, write) => write(),
  (_, write) => write().catch(() => undefined),
  async ({ step }, write) => {
    try {
      await step("s", () => 1);
      await write();
    } catch (cause) {
      throw new Error("mine", { cause });
    }
  },
];

const isSkipped = findPostgresPrograms() === undefined && process.env["CI"] === undefined;

describe.skipIf(isSkipped)("on a server that is killed", () => {
  let server: PostgresServer;
  let dataDirectory = "";
  beforeAll(async () => {
    server = await startPostgres({ wal_level: "replica" });
    dataDirectory = await readDataDirectory(server.url);
  }, 150_000);
  afterAll(async () => {
    await stopAtOnce(dataDirectory).catch(() => undefined);
    await server.stop();
  });

  function openNode() {
    const log = captureLog();
    const pool = new Pool({ connectionString: server.url, max: 10 });
    pool.on("error", () => undefined);
    const receiver = createReceiver({
      secrets: TEST_SECRET,
      store: createPostgresStore({ pool }),
      retry: { maxAttempts: 1 },
      concurrency: 16,
      logger: log.logger,
      telemetry: false,
    });
    receiver.on("email.sent", async ({ id, data }, ctx) => {
      await sleep(WORK_MS);
      await RUNS[Number(data["run"])]?.(ctx, () =>
        ctx.commit(async ({ client }) => {
          await client.query("INSERT INTO effects (event) VALUES ($1)", [id]);
          await sleep(WORK_MS / 4);
          await client.query("SELECT 1");
        }),
      );
    });
    onTestFinished(async () => {
      await closeReceiver(receiver);
      await pool.end();
    });
    return { receiver, log, pool };
  }

  test("no attempt is spent, and each run has one effect", { timeout: 90_000 }, async () => {
    const [one, other] = [openNode(), openNode()];
    await one.pool.query("CREATE TABLE effects (event text NOT NULL)");
    await one.receiver.start();
    await other.receiver.start();
    const answers = await Promise.all(
      Array.from({ length: EVENTS }, (_, index) =>
        post(index % 2 === 0 ? one.receiver : other.receiver, makeEvent({ data: { run: index % RUNS.length } })),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const counts = async () => one.receiver.stats().catch(() => undefined);
    await expect.poll(async () => (await counts())?.done ?? 0, { interval: 20 }).toBeGreaterThan(EVENTS / 10);
    await restartAtOnce(dataDirectory);
    await expect.poll(counts, { timeout: 60_000 }).toMatchObject({ pending: 0, running: 0 });
    expect(await counts()).toMatchObject({ done: EVENTS, dead: 0, parked: 0 });
    const { rows } = await one.pool.query<{ all: number; events: number }>(
      "SELECT count(*)::integer AS all, count(DISTINCT event)::integer AS events FROM effects",
    );
    expect(rows).toEqual([{ all: EVENTS, events: EVENTS }]);
    const logged = (msg: string) => [one, other].flatMap(({ log }) => log.named(msg));
    // Without these the outage would have hit nothing.
    expect(logged("run_interrupted").length).toBeGreaterThan(0);
    expect([logged("handler_failed"), logged("handler_dead")]).toEqual([[], []]);
  });
});
