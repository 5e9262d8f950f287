import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { Pool } from "pg";
import { TEST_SECRET } from "pigeonhole/testing";
import { pino } from "pino";
import request from "supertest";
import { createApp } from "../../src/app.js";
import { databaseVariables } from "../../src/database-variables.js";
import { createStore } from "../../src/store.js";
import { createMailReceiver } from "../../src/webhooks/receiver.js";

export type TestApp = Awaited<ReturnType<typeof openTestApp>>;

/** The real app with a database of its own, and no port. */
export async function openTestApp() {
  const database = await createDatabase();
  const pool = new Pool({ connectionString: database.url });
  async function removeDatabase() {
    await pool.end();
    await database.drop();
  }
  try {
    return await openApp(pool, removeDatabase);
  } catch (error) {
    await removeDatabase();
    throw error;
  }
}

async function openApp(pool: Pool, removeDatabase: () => Promise<void>) {
  const store = createStore(pool);
  const receiver = createMailReceiver({ secrets: [TEST_SECRET], store, log: pino({ level: "silent" }) });
  await receiver.start();
  const app = createApp({ receiver, pool });
  return {
    receiver,
    pool,
    async post(body: string, headers: Record<string, string>) {
      const answer = await request(app).post("/webhooks/mail").set(headers).send(body);
      return { status: answer.status, outcome: answer.headers["x-pigeonhole-outcome"] };
    },
    get: async (path: string) => (await request(app).get(path)).status,
    async close() {
      await receiver.stop();
      await removeDatabase();
    },
  };
}

/** An empty database on the server of DATABASE_URL. */
async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  if (existsSync(".env")) loadEnvFile(".env");
  const url = databaseVariables.DATABASE_URL.parse(process.env["DATABASE_URL"]);
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = new Pool({ connectionString: url, max: 1 });
  await server.query(`CREATE DATABASE ${name}`).catch((error: unknown) => {
    throw new Error("The tests need the PostgreSQL of DATABASE_URL, such as that of compose.yaml.", { cause: error });
  });
  return {
    url: Object.assign(new URL(url), { pathname: `/${name}` }).href,
    async drop() {
      await server.query(`DROP DATABASE ${name}`);
      await server.end();
    },
  };
}
