import express, { type Express } from "express";
import type { Receiver } from "pigeonhole";

/** The app without a port, so that tests can use it. */
export function createApp(receiver: Pick<Receiver, "middleware" | "stats">): Express {
  const app = express();
  app.disable("x-powered-by");

  // Before every body parser: the signature covers the raw bytes.
  app.post("/webhooks/mail", receiver.middleware());
  app.use(express.json());

  app.get("/healthz", (_, res) => void res.json({ status: "ok" }));
  app.get("/readyz", async (_, res) => {
    const { state } = await receiver.stats();
    res.status(state === "running" ? 200 : 503).json({ state });
  });
  return app;
}
