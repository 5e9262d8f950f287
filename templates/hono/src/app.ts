import { Hono } from "hono";
import type { Receiver } from "pigeonhole";

/** The app without a port, so that tests can use it. */
export function createApp(receiver: Pick<Receiver, "fetch" | "stats">): Hono {
  const app = new Hono();

  // The request goes on untouched: the signature covers the raw bytes.
  app.post("/webhooks/mail", (c) => receiver.fetch(c.req.raw));

  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    const { state } = await receiver.stats();
    return c.json({ state }, state === "running" ? 200 : 503);
  });
  return app;
}
