import express, { type Express } from "express";
import type { Pool } from "pg";
import type { MailReceiver } from "./webhooks/receiver.js";
import { listMailEvents } from "./tables.js";

interface AppDeps {
  receiver: Pick<MailReceiver, "middleware" | "stats">;
  pool: Pool;
}

/** The app without a port, so that tests can use it. */
export function createApp({ receiver, pool }: AppDeps): Express {
  const app = express();
  app.disable("x-powered-by");

  // Before every body parser: the signature covers the raw bytes.
  app.post("/webhooks/mail", receiver.middleware());
  app.use(express.json());

  // Open to everybody who reaches the port: put your own authentication in front.
  app.get("/events", async (_, res) => void res.json({ events: await listMailEvents(pool, 50) }));

  app.get("/healthz", (_, res) => void res.json({ status: "ok" }));
  app.get("/readyz", async (_, res) => {
    const { state } = await receiver.stats();
    res.status(state === "running" ? 200 : 503).json({ state });
  });
  return app;
}
