import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TEST_SECRET } from "pigeonhole/testing";
import { pino } from "pino";
import request from "supertest";
import { createApp } from "../../src/app.js";
import { createStore } from "../../src/store.js";
import { createMailReceiver } from "../../src/webhooks/receiver.js";

export type TestApp = Awaited<ReturnType<typeof openTestApp>>;

/** The real app with an inbox of its own, and no port. */
export async function openTestApp() {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  const store = createStore(join(folder, "inbox.db"));
  const receiver = createMailReceiver({ secrets: [TEST_SECRET], store, log: pino({ level: "silent" }) });
  await receiver.start();
  const app = createApp({ receiver, store });
  return {
    receiver,
    store,
    async post(body: string, headers: Record<string, string>) {
      const answer = await request(app).post("/webhooks/mail").set(headers).send(body);
      return { status: answer.status, outcome: answer.headers["x-pigeonhole-outcome"] };
    },
    get: async (path: string) => (await request(app).get(path)).status,
    async close() {
      await receiver.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
